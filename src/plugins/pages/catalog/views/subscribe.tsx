import type { View } from '../view.ts';

/** Links to a calendar: `webcal:` opens a calendar program, the path is for one that takes an address alone. */
export const Subscribe = ({ view, url, path }: { view: View; url: string; path: string }) => (
  <>
    <a href={`${url.replace(/^https?:/, 'webcal:')}${new URL(path, url).search}`}>{view.texts.feeds.subscribe}</a>{' '}
    <a href={path}>{view.texts.feeds.address}</a>
  </>
);
