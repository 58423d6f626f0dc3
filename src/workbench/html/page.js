// The report reads without this script; it adds sorting, filters, a theme switch and the download.
(() => {
  'use strict';
  const root = document.documentElement;
  root.classList.add('js');

  const remembered = (() => {
    try { return localStorage.getItem('nereid-theme'); } catch { return null; }
  })();
  if (remembered === 'light' || remembered === 'dark') root.dataset.theme = remembered;

  const is_dark = () => root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;

  function set_up_theme() {
    const button = document.getElementById('theme');
    const show = () => { button.textContent = is_dark() ? 'Light' : 'Dark'; };
    button.setAttribute('aria-label', 'Switch between light and dark');
    button.addEventListener('click', () => {
      root.dataset.theme = is_dark() ? 'light' : 'dark';
      try { localStorage.setItem('nereid-theme', root.dataset.theme); } catch { /* private mode */ }
      show();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
    show();
  }

  function set_up_download() {
    document.getElementById('download').addEventListener('click', () => {
      const data = JSON.parse(document.getElementById('report-data').textContent);
      const blob = new Blob([JSON.stringify(data, null, 1)], { type: 'application/json' });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = 'nereid-report.json';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Figures sort by data-v, words by their text; what was not taken comes last.
  function cell_key(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.classList.contains('na') ? null : cell.textContent.trim();
  }

  function compare(a, b, sign) {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
  }

  // Each click on a heading: ascending, descending, the report's order.
  function set_up_sorting(table, rows) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const states = ['ascending', 'descending', 'none'];
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const now = head.getAttribute('aria-sort') || 'none';
        const next = states[(states.indexOf(now) + 1) % 3];
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        const order = [...rows];
        if (next !== 'none') {
          head.setAttribute('aria-sort', next);
          const sign = next === 'ascending' ? 1 : -1;
          order.sort((a, b) => compare(cell_key(a, column), cell_key(b, column), sign));
        }
        table.classList.toggle('grouped', next === 'none');
        body.append(...order);
      });
    });
  }

  function set_up_filters(table, rows) {
    const value = (id) => document.getElementById(id).value;
    const checked = (id) => document.getElementById(id).checked;
    const update = () => {
      const wanted = [['op', value('f-op')], ['backend', value('f-backend')],
        ['verdict', value('f-verdict')]];
      const words = value('f-text').toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0, last = null;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const fits = wanted.every(([key, word]) => !word || row.dataset[key] === word)
          && words.every((word) => text.includes(word));
        row.hidden = !fits;
        if (!fits) continue;
        shown += 1;
        row.classList.toggle('first', row.dataset.case !== last);
        last = row.dataset.case;
      }
      table.classList.toggle('hide-accuracy', !checked('c-accuracy'));
      table.classList.toggle('hide-cost', !checked('c-cost'));
      document.getElementById('shown').textContent = `${shown} of ${rows.length} rows`;
    };
    const form = document.getElementById('controls');
    form.addEventListener('input', update);
    form.addEventListener('submit', (event) => event.preventDefault());
    update();
  }

  document.addEventListener('DOMContentLoaded', () => {
    set_up_theme();
    set_up_download();
    const table = document.getElementById('table');
    if (!table) return;
    const rows = [...table.tBodies[0].rows];
    set_up_sorting(table, rows);
    set_up_filters(table, rows);
  });
})();
