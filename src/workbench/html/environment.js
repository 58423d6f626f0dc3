// src/workbench/html/environment.js: the machine, its limits, the backends, the method.

const kMachine = [['cpu', 'CPU'], ['microarchitecture', 'Microarchitecture'], ['isa', 'ISA'],
  ['cores', 'Cores'],
  ['threads_available', 'Threads available'], ['caches', 'Caches'], ['nominal', 'Nominal limits']];
const kSystem = [['governor', 'Governor'], ['turbo', 'Turbo'], ['smt', 'SMT'], ['thp', 'Huge pages'],
  ['kernel', 'Kernel']];
const kRun = [['nereid_version', 'Nereid'], ['git', 'Commit'], ['compiler', 'Compiler'], ['date', 'Date'],
  ['seed', 'Seed']];
const kMethod = [['warmup', 'Warm-up'], ['slice_ms', 'Slice, ms'], ['rounds', 'Rounds'], ['timer', 'Timer'],
  ['cache', 'Cache']];
const kRates = [['ghz', 'Clock, GHz'], ['f32_gflops', 'f32 GFLOP/s'], ['bf16_dot_gflops', 'bf16 GFLOP/s'],
  ['int8_gops', 'int8 GOP/s'],
  ['amx_bf16_gflops', 'AMX bf16 GFLOP/s'], ['amx_int8_gops', 'AMX int8 GOP/s']];

// f32_gflops_per_core -> f32 GFLOP/s per core
const words_of = (key) => key.replace(/_/g, ' ').replace('gflops', 'GFLOP/s').replace('gops', 'GOP/s')
  .replace('gbps', 'GB/s').replace('dram', 'DRAM').replace('amx', 'AMX');

function nominal_text(nominal) {
  if (nominal === null || typeof nominal !== 'object') return describe(nominal);
  return Object.entries(nominal).map(([key, value]) => [words_of(key), describe(value)])
    .filter(([, words]) => words && words !== '0')
    .map(([key, words]) => (/(GFLOP|GOP|GB)\/s/.test(key) ? key.replace(/(GFLOP|GOP|GB)\/s/, `${words} $&`)
      : `${key} ${words}`))
    .join(', ');
}

function fact_text(facts, key) {
  if (key === 'caches') return list(facts.caches).map(object)
    .map((cache) => joined([describe(cache.name), positive(cache.bytes) && bytes_text(cache.bytes)]))
      .join(', ');
  if (key === 'nominal') return nominal_text(facts.nominal);
  const words = describe(facts[key]);
  if (key !== 'smt' && key !== 'turbo') return words;
  return words === '1' ? 'on' : words === '0' ? 'off' : words;  // the kernel says 1 and 0
}

const definition = (words, value) => (value ? el('div', null, el('dt', null, words), el('dd', null, value))
  : '');
const facts_of = (facts, keys) => keys.map(([key, words]) => definition(words, fact_text(facts, key)));
const other_facts = (facts, known) => Object.keys(facts).filter((key) => !known.includes(key))
  .map((key) => definition(words_of(key), describe(facts[key])));

function fact_group(title, definitions) {
  return definitions.some(Boolean) ? el('div', null, el('h3', null, title),
    el('dl', { class: 'facts-list' }, definitions)) : '';
}

const number_cell = (value) => (positive(value) ? el('td', { class: 'num' }, significant(value))
  : el('td', { class: 'num na' }, kNone));

function small_table(title, heads, rows) {
  return rows.length === 0 ? '' : el('div', null, el('h3', null, title), scroll_box(title, true,
    el('table', { class: 'plain' }, el('thead', null, el('tr', null, heads)), el('tbody', null, rows))));
}

const threads_cell = (entry) => el('th', { scope: 'row', class: 'num' }, describe(entry.threads));

function arithmetic_table(measured) {
  const kinds = kRates.filter(([key]) => measured.some((entry) => positive(entry[key])));
  return kinds.length === 0 ? '' : small_table('Measured arithmetic',
    [head_cell('Threads', true), kinds.map(([, words]) => head_cell(words, true))],
    measured.map((entry) => el('tr', null, threads_cell(entry),
      kinds.map(([key]) => number_cell(entry[key])))));
}

function bandwidth_table(measured) {
  const heads = [head_cell('Threads', true), head_cell('Level'),
    ['Read', 'Copy', 'Copy, streaming'].map((w) => head_cell(w, true))];
  return small_table('Measured bandwidth, GB/s', heads,
    measured.flatMap((entry) => list(entry.streams).map(object)
    .map((stream) => el('tr', null, threads_cell(entry), el('td', null, describe(stream.level)),
      ['read', 'copy', 'copy_nt'].map((key) => number_cell(stream[key]))))));
}

function backends_table(backends) {
  return small_table('Backends', ['Name', 'State', 'Version', 'Note'].map((words) => head_cell(words)),
    backends.map((backend) => el('tr', null,
    el('th', { scope: 'row' }, describe(backend.name)),
    el('td', null, backend.available === true ? 'available' : el('span', { class: 'soft' }, 'absent')),
    el('td', null, describe(backend.version)), el('td', { class: 'wrap' }, describe(backend.reason)))));
}

function environment_section(model) {
  const facts = model.environment, measured = list(facts.measured).map(object);
  const warnings = list(facts.warnings).map(describe).filter(Boolean);
  const known = [...kMachine, ...kSystem, ...kRun].map(([key]) => key);
  const groups = [fact_group('Machine', facts_of(facts, kMachine)),
    fact_group('System', facts_of(facts, kSystem)),
    fact_group('Build and run', facts_of(facts, kRun)),
    fact_group('Other', other_facts(facts, [...known, 'command', 'measured', 'backends', 'method',
      'warnings']))];
  return [el('h2', { id: 'h-environment' }, 'Environment'),
    warnings.length > 0 ? el('div', { class: 'warnings', role: 'note' }, el('h3', null, 'Warnings'),
      el('ul', null, warnings.map((words) => el('li', null, words)))) : '',
    facts.command ? el('pre', { class: 'command', tabindex: 0 }, el('code', null, describe(facts.command)))
      : '',
    groups.some(Boolean) ? '' : el('p', { class: 'soft' }, 'The report does not say where it was made.'),
    el('div', { class: 'groups' }, groups),
    el('div', { class: 'tables' }, arithmetic_table(measured), bandwidth_table(measured),
      backends_table(list(facts.backends).map(object)))];
}

function method_section(model) {
  const method = object(model.environment.method);
  const facts = [facts_of(method, kMethod), other_facts(method, kMethod.map(([key]) => key))].flat();
  const source = model.derived
    ? 'This report has no list of ratios: speed-ups are medians over paired slices, without an interval; even means within 3 %.'
    : 'A speed-up is the median over paired slices, taken in turns, with a bootstrap 95 % interval. Faster: the whole '
      + 'interval is over 1. Slower: the interval is under 1 or the median under 0.97. Else even. The mean’s interval '
      + 'combines those of its cases: it covers noise, not the choice of cases.';
  return [el('h2', { id: 'h-method' }, 'Method'),
    facts.some(Boolean) ? el('dl', { class: 'facts-list across' }, facts) : '',
    el('div', { class: 'prose' }, el('p', null, source),
      el('p', null, 'Times are medians; ± is half the distance from the '
      + '10th to the 90th percentile. Roofline is the least time that the measured arithmetic and bandwidth allow, over the '
      + 'time taken. A case in which a side failed, or shows more than 100 % of a limit, stays in the table and leaves the mean.'))];
}
