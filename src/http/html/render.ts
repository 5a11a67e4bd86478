import type { VNode } from 'preact';
import { render } from 'preact-render-to-string';

export const htmlType = 'text/html; charset=utf-8';

export const renderPage = (page: VNode) => `<!doctype html>${render(page)}`;
