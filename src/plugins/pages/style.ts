import { createHash } from 'node:crypto';
import { compressOnce } from '../../http/compression/static-content.ts';
import { palette } from '../../http/palette.ts';

const text = `
${palette}* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  display: flex;
  flex-direction: column;
  background: var(--page);
  color: var(--ink);
  font: 1.0625rem/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  overflow-wrap: anywhere;
}
a { color: var(--link); text-underline-offset: 0.15em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
h1,
h2,
h3 { line-height: 1.25; margin: 0; text-wrap: balance; }
h1 { font-size: 1.75rem; }
h2 { font-size: 1.25rem; margin-top: 2.25rem; }
h3 { font-size: 1.125rem; }
p { margin: 0.5rem 0; }
ul,
ol { padding-left: 1.25rem; }
header,
main,
footer {
  width: 100%;
  max-width: 44rem;
  margin: 0 auto;
  padding: 0 1rem;
}
header { border-bottom: 1px solid var(--line); padding-bottom: 0.5rem; }
main { flex: 1; padding-top: 1.75rem; padding-bottom: 3rem; }
footer {
  border-top: 1px solid var(--line);
  padding-top: 1rem;
  padding-bottom: 1.5rem;
  color: var(--soft);
  font-size: 0.9375rem;
}
footer h2 { font-size: 1rem; margin: 0; }
footer ul {
  list-style: none;
  padding: 0;
  margin: 0.25rem 0 0;
  display: flex;
  flex-wrap: wrap;
  gap: 0.25rem 1.25rem;
}
footer li,
footer a { line-height: 2; }
.school { font-weight: 600; margin: 0.875rem 0 0.25rem; }
.menu,
.menu ul {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0 1.25rem;
}
.menu { justify-content: space-between; }
.menu ul { list-style: none; margin: 0; padding: 0; }
.menu a,
.plain { display: inline-block; padding: 0.5rem 0; }
.menu a[aria-current] { color: var(--ink); font-weight: 600; text-decoration-thickness: 3px; }
.skip {
  position: absolute;
  left: -100vw;
  padding: 0.5rem 1rem;
  background: var(--card);
}
.skip:focus { left: 0.5rem; top: 0.5rem; }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
.cards {
  list-style: none;
  margin: 0.75rem 0 0;
  padding: 0;
  display: grid;
  gap: 0.875rem;
}
.cards > li,
.gatherings > li {
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 10px;
  padding: 1rem 1.125rem;
}
.gatherings {
  list-style: none;
  margin: 0.75rem 0 0;
  padding: 0;
  display: grid;
  gap: 0.5rem;
}
.gatherings p { margin: 0; }
.gatherings .when { font-weight: 600; }
.enrolment-status {
  display: inline-block;
  margin: 0.5rem 0 0;
  padding: 0.1rem 0.625rem;
  border: 1px solid currentcolor;
  border-radius: 1rem;
  font-size: 0.9375rem;
  color: var(--wait);
  background: var(--wait-back);
}
.enrolment-status.confirmed,
.enrolment-status.overbooked { color: var(--good); background: var(--good-back); }
.enrolment-status.postponed { color: var(--wait); background: var(--wait-back); }
.enrolment-status.canceled,
.enrolment-status.deregistered,
.enrolment-status.deregisteredWithFee {
  color: var(--bad);
  background: var(--bad-back);
}
dl { margin: 0.75rem 0; display: grid; gap: 0.5rem; }
dl > div { display: grid; grid-template-columns: 8.5rem 1fr; gap: 0 1rem; }
dt { color: var(--soft); }
.time { white-space: nowrap; }
dd { margin: 0; }
@media (max-width: 30rem) {
  .menu,
  .menu ul { gap: 0 0.625rem; }
  .menu { font-size: 0.875rem; }
  dl > div { grid-template-columns: 1fr; }
}
.text h3,
section > h3 { margin-top: 1.25rem; }
.text table { display: block; overflow-x: auto; border-collapse: collapse; }
.text th,
.text td { padding: 0.25rem 1rem 0.25rem 0; text-align: left; vertical-align: top; }
.text pre { white-space: pre-wrap; }
.text blockquote { margin: 0.75rem 0; padding-left: 1rem; border-left: 3px solid var(--line); }
form { margin: 0; }
.fields {
  max-width: 24rem;
  display: grid;
  gap: 1.25rem;
  margin-top: 1.25rem;
}
.fields p { margin: 0; }
label { display: block; font-weight: 600; }
.hint { color: var(--soft); font-size: 0.9375rem; }
.field-error { color: var(--bad); font-weight: 600; }
input {
  width: 100%;
  margin-top: 0.25rem;
  padding: 0.625rem 0.75rem;
  font: inherit;
  color: inherit;
  background: var(--card);
  border: 1px solid var(--soft);
  border-radius: 6px;
}
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
.choice { display: flex; gap: 0.75rem; align-items: flex-start; padding: 0.5rem 0; font-weight: inherit; }
.choice input { width: 1.25rem; height: 1.25rem; flex: none; margin: 0.15rem 0 0; padding: 0; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; }
input[readonly] { background: transparent; border-color: var(--line); }
input[aria-invalid] { border: 2px solid var(--bad); }
button,
.button {
  display: inline-block;
  font: inherit;
  font-weight: 600;
  padding: 0.5rem 1.125rem;
  border: 1px solid var(--fill);
  border-radius: 6px;
  background: var(--fill);
  color: var(--on-fill);
  text-decoration: none;
  cursor: pointer;
}
.button,
.secondary { background: transparent; color: var(--link); }
button:hover,
.button:hover { text-decoration: underline; }
button.plain {
  padding-inline: 0;
  border: 0;
  background: none;
  color: var(--link);
  font-weight: inherit;
  text-decoration: underline;
  text-underline-offset: 0.15em;
}
@media print {
  header .menu,
  .button,
  .skip { display: none; }
}
`;

/** Content hash in the name, so that browsers can cache it forever. */
export const stylesheet = {
  name: `style-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.css`,
  content: compressOnce(text.trimStart()),
};
