const base = new URL('guides/', document.currentScript.src);

for (const pre of document.querySelectorAll('article pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = 'Selected';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  const frame = document.createElement('div');
  frame.className = 'code';
  pre.replaceWith(frame);
  frame.append(pre, button);
}

const form = document.querySelector('form[role=search]');
const field = form.querySelector('input');
const results = document.querySelector('.results');
form.hidden = false;
form.addEventListener('submit', (event) => event.preventDefault());

let loading;
const load = () =>
  (loading ??= fetch(new URL('search.json', base))
    .then((response) => response.json())
    .catch(() => {
      loading = undefined;
      return [];
    }));

const maxResults = 20;
function rank({ page, heading, text }, words) {
  const [title, name, body] = [page, heading, text].map((one) => one.toLowerCase());
  let score = 0;
  for (const word of words) {
    if (name.includes(word)) score += 10;
    else if (title.includes(word)) score += 5;
    else if (body.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

function toResult({ page, heading, url, text }, word) {
  const link = document.createElement('a');
  link.href = url;
  link.textContent = page === heading ? page : page + ': ' + heading;
  const start = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  const excerpt = document.createElement('p');
  excerpt.textContent = (start > 0 ? '… ' : '') + text.slice(start, start + 120);
  const item = document.createElement('li');
  item.append(link, excerpt);
  return item;
}

async function search() {
  const sections = await load();
  const words = field.value.toLowerCase().slice(0, 200).split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : sections.map((section) => [rank(section, words), section]);
  const best = found.filter(([score]) => score > 0).sort(([a], [b]) => b - a).slice(0, maxResults);
  results.replaceChildren(...best.map(([, section]) => toResult(section, words[0])));
  results.hidden = words.length === 0;
  if (words.length > 0 && best.length === 0) {
    const none = document.createElement('li');
    none.textContent = 'Nothing found';
    results.append(none);
  }
}
field.addEventListener('focus', load, { once: true });
field.addEventListener('input', search);
