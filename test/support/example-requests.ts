type Values = Record<string, string | number>;
/** The last response to each operation. */
export type Responses = Record<string, any>;

export type ExampleRequest = {
  operationId: string;
  /** The default is that of the item which the POST to its list has created. */
  path?: Values | ((responses: Responses) => Values);
  query?: string | ((responses: Responses) => string);
  /** Replaces the documented example of the body. */
  body?: object;
};

const course = { id: 1 };
const date = { course_id: 39, id: 76 };
const employee = 9;

const firstMail = ({ listMails }: Responses) => ({ id: listMails[0].id });

const spreadsheets = ['listCourseDates', 'listOrders', 'listParticipants', 'listCustomers', 'listCourseUsers'];

const reads: ExampleRequest[] = [
  { operationId: 'getLiveness' },
  { operationId: 'getReadiness' },
  // Without a cursor; the last request has this one.
  { operationId: 'listChanges' },
  { operationId: 'listCourses' },
  { operationId: 'getCourse', path: course },
  { operationId: 'listCourseDates' },
  { operationId: 'getAttendance', path: { id: date.id } },
  { operationId: 'listDatesOfCourse', path: { course_id: 1 } },
  { operationId: 'getCourseDate', path: date },
  { operationId: 'batchListCourseDates', query: 'course_ids[]=1&course_ids[]=39' },
  { operationId: 'listNextCourseDates' },
  { operationId: 'listLocations' },
  { operationId: 'getLocation', path: { id: 1 } },
  { operationId: 'listInstructors' },
  { operationId: 'getInstructor', path: { id: 1 } },
  { operationId: 'listTags' },
  { operationId: 'getTag', path: { id: 1 } },
  { operationId: 'listDurationUnits' },
  { operationId: 'getSchool' },
  { operationId: 'getBookingSettings' },
  { operationId: 'getCatalogSettings' },
  { operationId: 'whoAmI' },
  { operationId: 'listOrders' },
  { operationId: 'getOrder', path: { id: 47 } },
  { operationId: 'listOrderProducts' },
  { operationId: 'listPayments' },
  { operationId: 'getPayment', path: { id: 1 } },
  { operationId: 'listParticipants' },
  { operationId: 'getParticipant', path: { id: 1 } },
  { operationId: 'listCampaigns' },
  { operationId: 'getCampaign', path: { id: 2 } },
  { operationId: 'validateCampaign', path: { code: 'KVELDSKAFFE' }, query: 'course_id=32' },
  { operationId: 'listVouchers' },
  { operationId: 'getVoucher', path: { id: 2 } },
  { operationId: 'validateVoucher', path: { code: 'GAVE-FJORD-2408' } },
  { operationId: 'listCustomers' },
  { operationId: 'getCustomer', path: { id: 1 } },
  { operationId: 'listEmployees', path: { id: 2 } },
  { operationId: 'listCourseUsers' },
  { operationId: 'getCourseUser', path: { id: employee } },
  { operationId: 'exportCourseUser', path: { id: employee } },
  { operationId: 'searchCourseUsers', query: 'email=ida.ovrebo@havbris.example' },
  { operationId: 'getBooking', path: { id: 1001 } },
  { operationId: 'listAdminUsers' },
  { operationId: 'getAdminUser', path: { id: 1 } },
  { operationId: 'listAdminRoles' },
  { operationId: 'listAppUsers' },
  { operationId: 'getLegacySchool' },
  { operationId: 'getAttendance', path: { id: date.id }, query: 'format=csv' },
  ...spreadsheets.map((operationId) => ({ operationId, query: 'format=csv&limit=1' })),
];

const writes: ExampleRequest[] = [
  { operationId: 'createSubSchool' },
  { operationId: 'updateSchool' },
  { operationId: 'updateBookingSettings' },
  { operationId: 'updateCatalogSettings' },
  { operationId: 'createCourse' },
  // The older interface creates a course of the same title.
  { operationId: 'deleteCourse' },
  { operationId: 'createLegacyCourse' },
  { operationId: 'updateCourse', path: course },
  { operationId: 'createCourseDate', path: { course_id: 1 } },
  {
    operationId: 'deleteCourseDate',
    path: ({ createCourseDate }) => ({ course_id: 1, id: createCourseDate.coursedate_id }),
  },
  { operationId: 'updateCourseDate', path: date },
  { operationId: 'createBooking' },
  { operationId: 'createBookings' },
  { operationId: 'moveParticipant', path: ({ createBooking }) => ({ id: createBooking.summary.participants[0].id }) },
  { operationId: 'deregisterBooking', path: ({ createBooking }) => ({ id: createBooking.summary.booking_id }) },
  { operationId: 'sendBookingLink', path: { id: 1049 } },
  { operationId: 'listMails' },
  { operationId: 'getMail', path: firstMail },
  // Once the mail is sent.
  { operationId: 'resendMail', path: firstMail },
  { operationId: 'requestInterest', path: ({ createLegacyCourse }) => ({ id: createLegacyCourse.course_id }) },
  { operationId: 'listInterests', path: ({ createLegacyCourse }) => ({ id: createLegacyCourse.course_id }) },
  { operationId: 'updateParticipant', path: { id: 1 } },
  { operationId: 'registerAttendance', path: { id: date.id } },
  { operationId: 'cancelCourseDate', path: date },
  // A second request finds the payment.
  { operationId: 'createPayment', path: { id: 47 } },
  { operationId: 'createPayment', path: { id: 47 } },
  {
    operationId: 'reversePayment',
    path: ({ createPayment }) => ({ id: createPayment.order_id, payment_id: createPayment.id }),
  },
  { operationId: 'updateOrder', path: { id: 47 } },
  { operationId: 'creditOrder', path: { id: 47 }, body: { dry_run: true } },
  { operationId: 'creditOrder', path: { id: 47 } },
  { operationId: 'exportOrder', path: { id: 47 }, body: {} },
  { operationId: 'createLocation' },
  { operationId: 'updateLocation', path: { id: 1 } },
  { operationId: 'createInstructor' },
  { operationId: 'updateInstructor', path: { id: 1 } },
  { operationId: 'archiveInstructor', path: { id: 2 } },
  // A second request finds the tag.
  { operationId: 'createTag' },
  { operationId: 'createTag' },
  { operationId: 'createCampaign' },
  { operationId: 'updateCampaign' },
  { operationId: 'archiveCampaign' },
  { operationId: 'createVoucher' },
  { operationId: 'updateVoucher' },
  { operationId: 'archiveVoucher' },
  { operationId: 'updateTag' },
  { operationId: 'deleteTag' },
  { operationId: 'createCustomer' },
  { operationId: 'updateCustomer', path: { id: 1 } },
  { operationId: 'createCourseUser' },
  // A second request finds the person.
  { operationId: 'createCourseUser' },
  { operationId: 'updateCourseUser' },
  { operationId: 'eraseCourseUser', path: { id: employee } },
  { operationId: 'mergeCourseUser', path: { id: employee } },
  { operationId: 'mergeCustomer', path: { id: 2 }, body: { into: 1, dry_run: true } },
  // The documented user does not exist: 200 with `valid: false`.
  { operationId: 'checkUserCredentials' },
  // A second request finds the person.
  { operationId: 'createAdminUser' },
  { operationId: 'createAdminUser' },
  { operationId: 'detachAdminUser' },
  { operationId: 'createWebhook' },
  { operationId: 'updateWebhook' },
  { operationId: 'rotateWebhookSecret' },
  { operationId: 'testWebhook' },
  { operationId: 'listWebhooks' },
  { operationId: 'getWebhook' },
  { operationId: 'listWebhookDeliveries' },
  { operationId: 'deleteWebhook' },
];

const readsAfterWrites: ExampleRequest[] = [
  { operationId: 'listChanges', query: ({ listChanges }) => `since=${listChanges.cursor}` },
];

/**
 * Requests to every operation, in an order in which a new demo school accepts all of them. Of those not named here,
 * items are created and changed before they are read, and deleted last.
 */
export function listExampleRequests(operations: { operationId: string; method: string }[]): ExampleRequest[] {
  const named = new Set([...reads, ...writes].map(({ operationId }) => operationId));
  const others = ['post', 'put', 'get', 'delete'].flatMap((method) =>
    operations.filter((one) => one.method === method && !named.has(one.operationId)),
  );
  return [...reads, ...writes, ...others.map(({ operationId }) => ({ operationId })), ...readsAfterWrites];
}
