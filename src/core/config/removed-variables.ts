const fixed = (value: string) => `it is ${value} now`;

/** Variables of earlier versions, with what to do about them. */
export const removedVariables: Record<string, string> = {
  EMBEDDED_DATABASE: 'in production set DATABASE_URL=embedded instead',
  POOL_ACQUIRE_TIMEOUT_MS: 'set STATEMENT_TIMEOUT_MS, 0.3 of which it is now',
  WRITE_LOCK_TIMEOUT_MS: 'set STATEMENT_TIMEOUT_MS, half of which it is now',
  HEADERS_TIMEOUT_MS: 'set REQUEST_TIMEOUT_MS, which includes it',
  PREPARED_STATEMENTS: 'a pooler that loses prepared statements is noticed',
  RATE_LIMIT_BURST: 'set RATE_LIMIT_PER_SECOND; twice as many may come at once',
  SUB_SCHOOLS_MAX: fixed('50'),
  TOKENS_RETENTION_DAYS: fixed('1'),
  SESSIONS_RETENTION_DAYS: fixed('0'),
  SIGN_ON_FAILURES_RETENTION_DAYS: fixed('0'),
  IDEMPOTENCY_RETENTION_DAYS: fixed('0'),
  CATALOG_POSTS_RETENTION_DAYS: fixed('0'),
  INTERESTS_RETENTION_DAYS: fixed('30'),
  BACKUP_RUNS_RETENTION_DAYS: fixed('400'),
  USAGE_RETENTION_DAYS: fixed('400'),
  STAGED_LINES_RETENTION_DAYS: fixed('7'),
  IMPORT_REFS_RETENTION_DAYS: 'an import recognises each earlier `ref`',
  MAIL_DKIM_SELECTORS: 'see "The domain of the sender" in docs/operate/operating.md',
};
