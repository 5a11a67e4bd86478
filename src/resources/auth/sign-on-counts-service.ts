/** Sign-ons since the start of the process, by their way and result; the metrics read them. */
export const signOnCounts = {
  /** `limited`: refused for the failures before, without a check. */
  password: { succeeded: 0, failed: 0, limited: 0 },
  link: { succeeded: 0, failed: 0 },
};
