// src/workbench/html/model.js: the document, with what follows from its rows and ratios.

const kNormal95 = 1.96;
const kVerdicts = ['pass', 'fail', 'error', 'skipped'];
const kIdentity = ['op', 'shape', 'dtype', 'options', 'device', 'threads', 'cache', 'regime'];
const is_ours = (backend) => backend === 'cpu' || backend === 'cuda';
// The definitions themselves: a yardstick only where no peer ran.
const is_definition = (backend) => backend === 'scalar' || backend === 'autovec';

function part_text(row, key) {
  if (key === 'threads') return row.threads ? `${row.threads} thread${row.threads === 1 ? '' : 's'}` : '';
  if (row[key] === 'cpu' || row[key] === 'eager') return '';  // what is usual is not said
  if (key === 'cache') return row.cache && `${row.cache} cache`;
  return describe(row[key]);
}

const passed = (row) => row.verdict === 'pass';
// Over 100 % of what the hardware can do: shown, but in no mean. Being faster than a loop of ours is
// no mistake.
const impossible = (row) => list(row.flags).some((flag) => String(flag).includes('over 100 % of the nominal'));
const spread_of = (row) => (positive(row.median_us) && figure(row.p10_us) !== null
  && figure(row.p90_us) !== null
  ? 100 * (row.p90_us - row.p10_us) / 2 / row.median_us : null);
const intensity_of = (row) => (positive(row.flops) && positive(row.bytes) ? row.flops / row.bytes : null);

// [["m", 16], ["n", 4096]]
const axes_of = (row) => String(row.shape || '').split(',').map((part) => part.split('='))
  .filter((pair) => pair.length === 2 && pair[1] !== '' && Number.isFinite(Number(pair[1])))
  .map(([name, value]) => [name, Number(value)]);

function group_cases(rows, varying) {
  const cases = new Map();
  for (const row of rows) {
    if (!cases.has(row.case)) {
      const words = (keys) =>
        joined(keys.map((key) => (key === 'cache' ? describe(row.cache) : part_text(row, key))));
      const full = words(kIdentity) || 'unnamed case';
      cases.set(row.case, { name: row.case, op: row.op, full, rows: [],
        label: words(kIdentity.filter((key) => key === 'shape' || varying.has(key))) || full });
    }
    cases.get(row.case).rows.push(row);
  }
  return cases;
}

// `bar` is the least median that is not slower, as the document says.
const faster = (ratio) => (ratio.low !== null ? ratio.low > 1 : ratio.median > 1 / ratio.bar);
const slower = (ratio) => !((ratio.high ?? Infinity) >= 1 && ratio.median >= ratio.bar);
const inverse = (r) => ({ ...r, backend: r.against, against: r.backend, median: 1 / r.median,
  low: r.high ? 1 / r.high : null, high: r.low ? 1 / r.low : null });

// The median over paired slices, where the document has no ratio of the two.
function paired(name, ours, theirs) {
  const pairs = list(ours?.slices_us).map((us, i) => list(theirs?.slices_us)[i] / us)
    .filter((ratio) => Number.isFinite(ratio) && ratio > 0);
  return pairs.length === 0 ? null
    : { case: name, backend: ours.backend, against: theirs.backend, median: median(pairs), low: null,
      high: null };
}

function given_ratios(document_) {
  return list(document_.ratios).map(object).filter((r) => positive(r.median)).map((r) => ({
    case: describe(r.case), backend: describe(r.backend), against: describe(r.against), median: r.median,
    low: positive(r.low), high: positive(r.high) }));
}

// Without a list of ratios: the first backend (ours, if it is there) beside each other one.
function derived_ratios(model) {
  const [subject, ...others] = model.backends, found = [];
  for (const one of model.cases.values())
    for (const other of others) {
      const ratio = paired(one.name, model.row(one.name, subject), model.row(one.name, other));
      if (ratio) found.push(ratio);
    }
  return found;
}

function geomean(ratios) {
  const logs = ratios.map((r) => Math.log(r.median));
  const mean = logs.reduce((sum, x) => sum + x, 0) / Math.max(1, logs.length);
  const known = ratios.every((r) => r.low !== null && r.high !== null && r.high >= r.low);
  const variance = ratios.reduce((sum, r) => sum + (known ? (Math.log(r.high / r.low) / 2 / kNormal95) ** 2
    : 0), 0);
  const half = kNormal95 * Math.sqrt(variance) / Math.max(1, ratios.length);
  return { value: Math.exp(mean), low: known ? Math.exp(mean - half) : null, high: known
    ? Math.exp(mean + half) : null };
}

// A pair and its mirror image say the same thing: the first one seen is kept.
function pair_up(model) {
  const pairs = new Map();
  for (const ratio of model.ratios) {
    if (pairs.has(`${ratio.against}\n${ratio.backend}`)) continue;
    const name = `${ratio.backend}\n${ratio.against}`;
    if (!pairs.has(name)) pairs.set(name, { backend: ratio.backend, against: ratio.against, ratios: [] });
    pairs.get(name).ratios.push(ratio);
  }
  for (const pair of pairs.values()) {
    pair.counted = pair.ratios.filter((ratio) => ratio.counted);
    pair.mean = geomean(pair.counted);
  }
  const votes = count_against(model.ratios);
  return [...pairs.values()].sort((a, b) => votes.get(b.against) - votes.get(a.against));
}

// How many ratios are against each backend; peers come before definitions.
function count_against(ratios) {
  const votes = new Map();
  for (const { against } of ratios)
    votes.set(against, (votes.get(against) ?? (is_definition(against) ? 0 : ratios.length)) + 1);
  return votes;
}

function read_model(document_) {
  const rows = list(document_.results).map(object)
    .map((row) => ({ ...row, case: describe(row.case) || joined(kIdentity.map((key) => describe(row[key]))),
    backend: describe(row.backend), verdict: kVerdicts.includes(row.verdict) ? row.verdict : 'error' }));
  const varying = new Set(kIdentity.filter((key) => new Set(rows.map((row) => describe(row[key]))).size > 1));
  const names = (key) => [...new Set(rows.map((row) => describe(row[key])))];
  const model = { environment: object(document_.environment), sweep: object(document_.sweep), rows, varying,
    cases: group_cases(rows, varying), ops: names('op'),
    backends: names('backend').sort((a, b) => is_ours(b) - is_ours(a)) };
  model.constants = rows.length === 0 ? ''
    : joined(kIdentity.filter((key) => key !== 'shape' && !varying.has(key))
    .map((key) => part_text(rows[0], key)), ', ');
  model.row = (name, backend) => model.cases.get(name)?.rows.find((row) => row.backend === backend);
  model.series = (backend) => Math.max(0, model.backends.indexOf(backend));
  model.label = (name) => model.cases.get(name)?.label ?? name;
  model.count = (verdict) => rows.filter((row) => row.verdict === verdict).length;

  model.bar = figure(object(model.environment.method).not_slower) ?? 1;
  const with_bar = (ratio) => ratio && { ...ratio, bar: model.bar };
  const given = given_ratios(document_);
  model.derived = given.length === 0;
  const ratios = model.derived ? derived_ratios(model) : given;
  const votes = count_against(ratios);
  model.baseline = [...votes].reduce((best, [name, n]) => (n > (votes.get(best) ?? 0) ? name : best), '');
  // Headline and bars speak of our backends: a peer's ratio against ours is turned round.
  model.ratios = ratios.map((r) => with_bar(is_ours(r.against) && !is_ours(r.backend) ? inverse(r) : r));
  for (const ratio of model.ratios)
    ratio.counted = [ratio.backend, ratio.against].map((backend) => model.row(ratio.case, backend))
      .every((row) => !row || (passed(row) && !impossible(row)));
  model.pairs = pair_up(model);
  const index = new Map(model.ratios.map((r) => [joined([r.case, r.backend, r.against], '\n'), r]));
  model.speed_up = (row) => {
    if (!model.baseline || row.backend === model.baseline) return null;
    const mirrored = index.get(joined([row.case, model.baseline, row.backend], '\n'));
    return index.get(joined([row.case, row.backend, model.baseline], '\n'))
      ?? with_bar(mirrored ? inverse(mirrored) : paired(row.case, row, model.row(row.case, model.baseline)));
  };
  return model;
}
