// src/workbench/html/headline.js: what the report says, first and in large letters.

function sentence(model) {
  if (model.rows.length === 0) return 'Nothing was measured';
  if (model.count('pass') === 0) return 'No row passed';
  const sweep = spreads(model.sweep)[0];
  if (sweep) {
    const what = model.sweep.op === 'all' ? 'All operators' : model.sweep.op;
    return `${what} ${sweep.words}: median ${ratio_text(sweep.median)}, worst ${ratio_text(sweep.worst)}`;
  }
  const pair = model.pairs.find((one) => one.counted.length > 0);
  if (pair) return `${pair.backend} is ${ratio_text(pair.mean.value)} as fast as ${pair.against}`;
  const some = (names) => names.slice(0, 4).join(', ') + (names.length > 4 ? ` and ${names.length - 4} more`
    : '');
  return `${some(model.ops)} on ${some(model.backends)}`;
}

// The distributions of a sweep that hold a case.
function spreads(sweep) {
  return [['peers', 'beside the best peer'], ['roofs', 'of a roof']]
    .map(([key, words]) => ({ ...object(sweep[key]), words })).filter((spread) => spread.count > 0);
}

function spread_card(spread) {
  const fact = (word, value) => [el('dt', null, word), el('dd', null, el('b', null, ratio_text(value)))];
  return el('article', { class: 'card' }, el('h3', null, `Median ${spread.words}`),
    el('p', { class: 'big' }, ratio_text(spread.median),
      el('small', null, `${count_text(spread.count, 'case', 'cases')}, drawn at random`)),
    el('dl', { class: 'extremes' }, fact('Worst', spread.worst), fact('10th percentile', spread.p10),
      fact('Geometric mean', spread.geometric_mean), fact('Best', spread.best)));
}

// All ratios of a pair as ticks on one line, and 1.0 as a rule.
function ratio_strip(model, pair) {
  const scale = scale_around([0.8, 1.25, ...pair.counted.map((r) => r.median)], 0.04), top = 4, bottom = 26;
  return plot(44, `All ${pair.counted.length} speed-ups of ${pair.backend} against ${pair.against} on a logarithmic line`, [
    line(0, bottom, 1, bottom, 'grid'),
    ticks(scale).map((tick) => label(percent(share(scale, tick)), 40, 'tick middle', tick_text(tick))),
    line(share(scale, 1), 0, share(scale, 1), bottom, 'one'),
    pair.counted.map((r) => line(share(scale, r.median), top + 4, share(scale, r.median), bottom,
      'ratio-tick',
      `${model.label(r.case)}: ${ratio_text(r.median)}`)),
    draw('use', { class: 'mean', href: '#m4', x: percent(share(scale, pair.mean.value)), y: top })]);
}

function pair_card(model, pair) {
  const title = el('h3', null, pair.backend, el('span', { class: 'soft' }, ' against '), pair.against);
  if (pair.counted.length === 0)
    return el('article', { class: 'card' }, title, el('p', { class: 'soft' },
      'No case counts: in each of them one side failed or shows an impossible figure.'));
  const { value, low, high } = pair.mean, all = pair.counted.length, left_out = pair.ratios.length - all;
  const order = [...pair.counted].sort((a, b) => a.median - b.median);
  const gains = pair.counted.filter((r) => faster(r) && !slower(r)).length,
    losses = pair.counted.filter(slower).length;
  const score = (count, words, classes) => el('span', { class: classes }, el('b', null, count), ` ${words}`);
  const extreme = (word, r) => [el('dt', null, word), el('dd', null, el('b', null, ratio_text(r.median)),
    ` ${model.label(r.case)}`)];
  return el('article', { class: 'card' }, title,
    el('p', { class: 'big' }, ratio_text(value), ' ',
      el('small', null, low === null ? 'no interval in the report'
      : `${ratio_text(low)} to ${ratio_text(high)}, 95 %`)),
    el('p', { class: 'score' }, score(gains, 'faster'), score(all - gains - losses, 'even'),
      score(losses, 'slower', losses > 0 ? 'bad' : null)),
    ratio_strip(model, pair),
    el('dl', { class: 'extremes' }, extreme('Worst', order[0]), all > 1 && extreme('Best', order[all - 1])
      || ''),
    el('p', { class: 'note' }, `Geometric mean of ${count_text(all, 'case', 'cases')}`
      + (left_out === 0 ? '.' : `; ${left_out} left out: a side failed or is over 100 % of a limit.`)));
}

function tally_card(model) {
  const parts = [['pass', 'passed'], ['fail', 'failed'], ['error', 'in error'], ['skipped', 'skipped']];
  const flagged = model.rows.filter((row) => list(row.flags).length > 0).length;
  let at = 0;
  const bars = parts.map(([verdict]) => {
    const part = model.count(verdict) / Math.max(1, model.rows.length);
    at += part;
    return bar_of(`v-${verdict}`, at - part, 0, part, 10);
  });
  return el('article', { class: 'card' }, el('h3', null, 'Rows'),
    el('p', { class: 'big' }, model.rows.length, ' ', el('small', null,
      `${count_text(model.cases.size, 'case', 'cases')}, ${count_text(model.backends.length, 'backend', 'backends')}`)),
    plot(10, 'Share of rows that passed, failed, ended in error and were skipped', bars),
    el('ul', { class: 'tally' },
      parts.map(([verdict, words]) => el('li', { class: `v-${verdict}` }, el('b', null, model.count(verdict)),
      ` ${words}`))),
    el('p', { class: 'note' }, flagged > 0 ? `${flagged} flagged. ` : '', 'Every row is in the ',
      el('a', { href: '#results' }, 'table'), '; ',
      el('a', { href: '#failures' }, 'reasons'), ' are below it.'));
}

function by_operator(model) {
  if (model.ops.length < 2 || model.pairs.length === 0) return '';
  const mean_of = (op, pair) => {
    const mine = pair.counted.filter((r) => model.cases.get(r.case)?.op === op), mean = geomean(mine).value;
    return mine.length === 0 ? el('td', { class: 'num na' }, kNone)
      : el('td', { class: mean < model.bar ? 'num bad' : 'num' }, ratio_text(mean),
        el('span', { class: 'soft' }, ` of ${mine.length}`));
  };
  return [el('h3', null, 'By operator'), scroll_box('Speed-up by operator', true,
    el('table', { class: 'plain' },
    el('thead', null, el('tr', null, head_cell('Operator'),
      model.pairs.map((p) => head_cell([p.backend, el('span', { class: 'soft' }, ` / ${p.against}`)],
      true)))),
    el('tbody', null, model.ops.map((op) => el('tr', null, el('th', { scope: 'row' }, op),
      model.pairs.map((p) => mean_of(op, p)))))))];
}

function headline_section(model) {
  const facts = [model.environment.cpu, model.constants, model.environment.date].map(describe)
    .filter(Boolean);
  const warnings = list(model.environment.warnings).length;
  return [el('h1', { id: 'title' }, sentence(model)),
    el('p', { class: 'facts' }, facts.map((words) => el('span', null, words))),
    warnings > 0 ? el('p', { class: 'alert' },
      el('a', { href: '#environment' }, `${count_text(warnings, 'warning', 'warnings')} about this machine`),
      ': read the figures with care.') : '',
    el('div', { class: 'cards' }, spreads(model.sweep).map(spread_card),
      model.pairs.map((pair) => pair_card(model, pair)), tally_card(model)),
    by_operator(model)];
}
