// src/workbench/html/dom.js: elements, numbers and words of the report's page. Whatever comes from
// the report becomes a text node or an attribute, never markup.
'use strict';

const kNone = '–';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
  node.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== ''));
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
// The page holds an <svg> whose namespace new ones take.
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS(document.querySelector('svg').namespaceURI, tag), attributes, children);

// --- what a stored document may hold -------------------------------------------------------------

const object = (value) => (value && typeof value === 'object' && !Array.isArray(value) ? value : {});
const list = (value) => (Array.isArray(value) ? value : []);
const figure = (value) => (Number.isFinite(value) ? value : null);
const positive = (value) => (Number.isFinite(value) && value > 0 ? value : null);

// --- numbers -------------------------------------------------------------------------------------

const exponent = (text) => text.replace(/e\+?(-?)0*(\d)/, 'e$1$2');

function grouped(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f').replace('-', '−');
}

// 0.052  1.23  12.3  123  12 300
function significant(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e9 || size < 5e-4) return exponent(value.toExponential(2));
  if (size >= 999.5) {
    const step = size >= 99950 ? 100 : size >= 9995 ? 10 : 1;
    return grouped(Math.round(value / step) * step);
  }
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

function error_text(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  return size >= 0.01 && size < 1000 ? String(Number(value.toPrecision(2)))
    : exponent(value.toExponential(1));
}

const ratio_text = (value) => `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3)}×`;

function duration_text(us) {
  if (us < 1) return `${Number((us * 1e3).toPrecision(3))} ns`;
  if (us < 999.5) return `${significant(us)} µs`;
  return us < 999.5e3 ? `${significant(us / 1e3)} ms` : `${significant(us / 1e6)} s`;
}

function bytes_text(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; unit += 1) bytes /= 1024;
  const whole = bytes >= 99.95 || Math.abs(bytes - Math.round(bytes)) < 0.05;
  return `${bytes.toFixed(whole ? 0 : 1)} ${units[unit]}`;
}

const percent_text = (value) => value.toFixed(value < 9.95 ? 1 : 0);
const count_text = (count, one, many) => `${grouped(count)} ${count === 1 ? one : many}`;
const shorten = (text, limit) => (text.length <= limit ? text
  : `${text.slice(0, Math.floor(limit * 0.6))}…${text.slice(text.length - Math.floor(limit * 0.4))}`);
const joined = (parts, by = ' ') => parts.filter(Boolean).join(by);

// Any JSON value in words: yes or no, few digits, lists with commas, objects as "key value".
function describe(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : significant(value);
  if (typeof value !== 'object') return String(value);
  const words = Object.entries(value).map(([key, item]) => [key, describe(item)]).filter(([, w]) => w);
  return words.map(([key, w]) => (Array.isArray(value) ? w : `${key} ${w}`)).join(', ');
}

// --- statistics ----------------------------------------------------------------------------------

function median(values) {
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function scroll_box(label, fits, table) {
  return el('div', { class: `scroll${fits ? ' fit' : ''}`, tabindex: 0, role: 'region', 'aria-label': label },
    table);
}
const head_cell = (words, number) => el('th', { scope: 'col', class: number ? 'num' : null }, words);
