/** Renews the picture of the README from the demo catalog of a running server: `npm run picture -- <address>`. */
import { writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { chromiumPath } from './programs.ts';

const [address = 'http://localhost:3000/catalog/fjordkurs-bergen'] = process.argv.slice(2);
const file = 'docs/reference/catalog.webp';
if (chromiumPath === undefined) throw new Error('There is no Chromium: apt-get install chromium');

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--disable-dev-shm-usage'] });
try {
  const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 1280, height: 800 } });
  const response = await page.goto(`${address}?lang=en`);
  if (response?.status() !== 200) throw new Error(`${address} is no catalog`);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  const picture = Buffer.from(data, 'base64');
  writeFileSync(file, picture);
  console.log(`${file}: ${picture.length} bytes`);
} finally {
  await browser.close();
}
