const noRecordCodes = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** True where DNS has answered that there is no such record, false for a failed lookup. */
export const isNoRecord = (error: unknown) => noRecordCodes.includes(String((error as { code?: string }).code));
