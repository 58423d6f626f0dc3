// src/workbench/html/page.js: draws the page from the document that it holds; theme and download.

const kRoot = document.documentElement;

const remembered = (() => {
  try { return localStorage.getItem('nereid-theme'); } catch { return null; }
})();
if (remembered === 'light' || remembered === 'dark') kRoot.dataset.theme = remembered;

const is_dark = () => (kRoot.dataset.theme ? kRoot.dataset.theme === 'dark'
  : matchMedia('(prefers-color-scheme: dark)').matches);

function set_up_theme() {
  const button = document.getElementById('theme');
  const show = () => { button.textContent = is_dark() ? 'Light' : 'Dark'; };
  button.setAttribute('aria-label', 'Switch between light and dark');
  button.addEventListener('click', () => {
    kRoot.dataset.theme = is_dark() ? 'light' : 'dark';
    try { localStorage.setItem('nereid-theme', kRoot.dataset.theme); } catch { /* private mode */ }
    show();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
  show();
}

function set_up_download(document_) {
  document.getElementById('download').addEventListener('click', () => {
    const blob = new Blob([JSON.stringify(document_, null, 1)], { type: 'application/json' });
    const link = el('a', { href: URL.createObjectURL(blob), download: 'nereid-report.json' });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

document.addEventListener('DOMContentLoaded', () => {
  kRoot.classList.add('js');
  const document_ = object(JSON.parse(document.getElementById('report-data').textContent));
  const model = read_model(document_);
  if (model.ops.length === 1) document.title += `: ${model.ops[0]}`;
  const sections = { headline: headline_section, environment: environment_section, method: method_section,
    results: results_section, plots: plots_section, failures: failures_section };
  for (const [id, content] of Object.entries(sections))
    document.getElementById(id).append(...content(model).flat(Infinity).filter(Boolean));
  document.getElementById('maker')
    .textContent = joined(['Made by Nereid', describe(model.environment.nereid_version)]);
  set_up_theme();
  set_up_download(document_);
});
