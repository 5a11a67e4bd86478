/** `<course-dates>`: the coming dates of a school on a page of another site. */
(() => {
  if (customElements.get('course-dates')) return;

  /** Below the address from which this script is loaded; in a module, or within another script, as it was served. */
  const served = '{catalogs}';
  const own = document.currentScript?.src ?? '';
  const catalogs = /\/catalog\/course-dates\.js(?:$|\?)/.test(own)
    ? new URL('.', own).href
    : /^https?:/.test(served)
      ? served
      : undefined;

  const locales = { en: 'en-GB', no: 'nb-NO' };
  const texts = {
    en: {
      dates: 'Coming dates',
      all: 'All courses',
      none: 'There are no coming dates at the moment.',
      failed: 'The dates could not be loaded.',
      free: 'Free of charge',
      online: 'Online',
      until: 'until',
      open: 'Places available',
      one: 'One place left',
      few: '{} places left',
      waiting_list: 'Waiting list',
      fully_booked: 'Fully booked',
      postponed: 'Postponed',
      over: 'Booking has closed',
    },
    no: {
      dates: 'Kommende kurs',
      all: 'Alle kurs',
      none: 'Det er ingen kommende kurs for øyeblikket.',
      failed: 'Kursdatoene kunne ikke lastes.',
      free: 'Gratis',
      online: 'På nett',
      until: 'til',
      open: 'Ledige plasser',
      one: 'Én plass igjen',
      few: '{} plasser igjen',
      waiting_list: 'Venteliste',
      fully_booked: 'Fullbooket',
      postponed: 'Utsatt',
      over: 'Påmeldingen er stengt',
    },
  };
  /** From this number on the places are not counted. */
  const fewSeats = 10;

  const styles = `
    :host { display: block; color: var(--course-dates-color, inherit); font: var(--course-dates-font, inherit); }
    :host([hidden]) { display: none; }
    .frame {
      --row: var(--course-dates-row-height, 4.5rem);
      box-sizing: border-box;
      min-height: var(--course-dates-min-height, calc(var(--rows) * var(--row) + 2.5rem));
      background: var(--course-dates-background, transparent);
    }
    ul { list-style: none; margin: 0; padding: 0; }
    li { box-sizing: border-box; height: var(--row); border-bottom: 1px solid var(--course-dates-border, #767676); }
    li > a {
      box-sizing: border-box; height: 100%; padding: 0 var(--course-dates-padding, 0.25rem);
      display: flex; flex-direction: column; justify-content: center; color: inherit; text-decoration: none;
    }
    li > a:hover strong { text-decoration-thickness: 0.15em; }
    span, strong { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; line-height: 1.35; }
    strong { color: var(--course-dates-accent, inherit); text-decoration: underline; }
    span { font-size: 0.875em; color: var(--course-dates-muted, inherit); }
    p { margin: 0; line-height: 2.5rem; }
    p a { color: var(--course-dates-accent, inherit); }
    a:focus-visible { outline: 3px solid var(--course-dates-focus, currentColor); outline-offset: -3px; }
  `;
  let sheet;
  function getSheet() {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
    }
    return sheet;
  }

  const maxRows = 100;

  class CourseDates extends HTMLElement {
    static observedAttributes = ['school', 'src', 'lang', 'tag', 'limit'];
    #frame;
    #loading;

    connectedCallback() {
      if (!this.#frame) {
        const root = this.attachShadow({ mode: 'open' });
        root.adoptedStyleSheets = [getSheet()];
        this.#frame = root.appendChild(createElement('div', { class: 'frame' }));
      }
      this.#load();
    }

    disconnectedCallback() {
      this.#loading?.abort();
    }

    attributeChangedCallback(_name, before, after) {
      if (this.#frame && this.isConnected && before !== after) this.#load();
    }

    get #rows() {
      const limit = Number.parseInt(this.getAttribute('limit') ?? '', 10);
      return limit >= 1 ? Math.min(limit, maxRows) : 5;
    }

    get #language() {
      const of = this.closest('[lang]')?.getAttribute('lang') ?? navigator.language;
      return /^(no|nb|nn)(?![a-z])/i.test(of) ? 'no' : 'en';
    }

    get #catalog() {
      const [src, school] = [this.getAttribute('src'), this.getAttribute('school')];
      if (src) return new URL(src, document.baseURI).href.match(/^[^?#]*[^/?#]/)[0];
      if (!school) throw new Error('the element has neither school nor src');
      if (!catalogs) throw new Error('the address of the service is not known: use src instead of school');
      return catalogs + encodeURIComponent(school);
    }

    async #load() {
      this.#loading?.abort();
      const loading = (this.#loading = new AbortController());
      const [frame, language, rows] = [this.#frame, this.#language, this.#rows];
      frame.style.setProperty('--rows', String(rows));
      frame.setAttribute('aria-busy', 'true');
      let catalog;
      try {
        catalog = this.#catalog;
        const items = await fetchDates(
          catalog,
          { lang: language, tag: this.getAttribute('tag'), limit: rows },
          loading,
        );
        frame.replaceChildren(...toContent(items, language, catalog));
      } catch (error) {
        if (loading.signal.aborted) return;
        console.warn(`course-dates: ${error.message}`);
        frame.replaceChildren(toNote(texts[language].failed, language, catalog));
      }
      frame.removeAttribute('aria-busy');
    }
  }

  async function fetchDates(catalog, { lang, tag, limit }, { signal }) {
    const query = new URLSearchParams({ lang, limit: String(limit), ...(tag && { tag }) });
    const response = await fetch(`${catalog}/dates.json?${query}`, { signal, credentials: 'omit' });
    if (!response.ok) throw new Error(`${catalog} responded ${response.status}`);
    return (await response.json()).items;
  }

  function toContent(items, language, catalog) {
    if (items.length === 0) return [toNote(texts[language].none, language, catalog)];
    const list = createElement('ul', { 'aria-label': texts[language].dates });
    list.append(...items.map((item) => toRow(item, language)));
    return [list, toNote('', language, catalog)];
  }

  function toRow(item, language) {
    const link = createElement('a', { href: toAddress(item.url, language) });
    const details = [toPlace(item, language), toPrice(item, language), toSeats(item, language)];
    link.append(
      createElement('strong', {}, item.title),
      createElement('span', {}, toWhen(item, language)),
      createElement('span', {}, details.filter(Boolean).join(' · ')),
    );
    const row = createElement('li');
    row.append(link);
    return row;
  }

  /** A text with a link to all courses. */
  function toNote(text, language, catalog) {
    const note = createElement('p', text ? { role: 'status' } : {}, text && `${text} `);
    if (catalog) note.append(createElement('a', { href: toAddress(catalog, language) }, texts[language].all));
    return note;
  }

  /** With the language of the list; an address of another kind than http leads nowhere. */
  function toAddress(address, language) {
    const url = new URL(address);
    if (!/^https?:$/.test(url.protocol)) return '#';
    url.searchParams.set('lang', language);
    return url.href;
  }

  /** Names the zone of the times where it is not that of the visitor. */
  function toWhen(item, language) {
    const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const isOther = (item.start_time_at || item.end_time_at) && item.timezone !== own;
    return `${toSpan(item, language)}${isOther ? ` (${item.timezone})` : ''}`;
  }

  function toSpan({ start_at, end_at, start_time_at, end_time_at }, language) {
    const shown = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' };
    const format = new Intl.DateTimeFormat(locales[language], shown);
    const [start, end] = [start_time_at, end_time_at].map((time) => time?.slice(0, 5) ?? '');
    const entry = (day, time) => [format.format(new Date(day)), time].filter(Boolean).join(', ');
    if (start_at !== end_at) return `${entry(start_at, start)} – ${entry(end_at, end)}`;
    if (!start && end) return entry(start_at, `${texts[language].until} ${end}`);
    return entry(start_at, [start, end].filter(Boolean).join('–'));
  }

  function toPlace({ place }, language) {
    const named = place.city ?? place.title ?? place.additional_info;
    return [...(place.online ? [texts[language].online] : []), ...(named ? [named] : [])].join(', ');
  }

  function toPrice({ price }, language) {
    if (!price) return '';
    if (price.value === 0) return texts[language].free;
    return new Intl.NumberFormat(locales[language], { style: 'currency', currency: price.currency }).format(
      price.value,
    );
  }

  function toSeats({ status, seats, booking_url }, language) {
    const words = texts[language];
    if (status === 'postponed') return words.postponed;
    if (booking_url === null && seats.status !== 'fully_booked') return words.over;
    if (seats.status !== 'open') return words[seats.status];
    if (seats.left === null || seats.left >= fewSeats) return words.open;
    return seats.left === 1 ? words.one : words.few.replace('{}', seats.left);
  }

  function createElement(name, attributes = {}, text = '') {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  }

  customElements.define('course-dates', CourseDates);
})();
