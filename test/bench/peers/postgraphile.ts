import { courseFields, courseHeadFields, dateFields, instructorFields, locationFields, tagFields } from './fields.ts';
import { withNode, type Peer, type PeerQuery } from './peer.ts';

const isFive = Number(process.versions.node.split('.')[0]) >= 22;
const version = isFive ? '5.1.5' : '4.14.1';
const command = `node_modules/postgraphile/${isFive ? 'dist/cli-run.js' : 'cli.js'}`;

/** Reads our tables directly, without authentication. */
export const postgraphile: Peer = {
  name: `PostGraphile ${version}`,
  packages: { postgraphile: version },
  oldestNode: 20,
  serve({ folder, subject, data }, work) {
    const preset = isFive ? ['--preset', 'postgraphile/presets/amber'] : ['--disable-graphiql', '--disable-query-log'];
    const program = (port: string) => ({
      ...{ folder, env: { GRAPHILE_ENV: 'production' } },
      args: [
        ...[command, '--connection', subject.url, '--schema', 'public'],
        ...['--host', '127.0.0.1', '--port', port, ...preset],
      ],
    });
    const createQuery = (base: string, query: string) => ({
      ...{ url: `${base}/graphql`, method: 'POST' as const },
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query }),
    });
    const isReady = async (base: string) => {
      const { url, ...init } = createQuery(base, '{ __typename }');
      return (await fetch(url, init)).ok;
    };
    return withNode(program, isReady, async ({ base, pid }) => {
      const page = `(condition: { providerId: "${data.providerId}" }, first: 75, orderBy: PRIMARY_KEY_ASC)`;
      const coursedates: PeerQuery<'coursedates'> = {
        ...createQuery(base, `{ page: allCourseDates${page} { totalCount nodes { ${dates} } } }`),
        normalise: ({ data: { page } }) => ({
          total: page.totalCount,
          items: page.nodes.map((date: any) => ({ id: Number(date.id), start: date.startAt })),
        }),
      };
      const includes: PeerQuery<'includes'> = {
        ...createQuery(base, `{ page: allCourseDates${page} { totalCount nodes { ${dates} ${nested} } } }`),
        normalise: ({ data: { page } }) => ({
          total: page.totalCount,
          items: page.nodes.map(({ id, course, location, instructors }: any) => ({
            ...{ id: Number(id), course: course.title, tags: tagTitles(course), location: location.title },
            instructors: instructors.nodes.map(({ one }: any) => one.lastname),
          })),
        }),
      };
      const courses: PeerQuery<'courses'> = {
        ...createQuery(base, `{ page: allCourses${page} { nodes { ${names(courseFields)} ${tags} } } }`),
        normalise: ({ data: { page } }) => ({
          items: page.nodes.map((course: any) => ({
            ...{ id: Number(course.id), title: course.title, text: course.textDescription, tags: tagTitles(course) },
          })),
        }),
      };
      return work({ name: postgraphile.name, pid, queries: { coursedates, includes, courses } });
    });
  },
};

const camelCase = (field: string) => field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
// PostGraphile 5 reserves `id` for the global object id.
const names = (fields: string[]) =>
  fields.map((field) => (isFive && field === 'id' ? 'id: rowId' : camelCase(field))).join(' ');
const dates = names(dateFields);
const tags = `tags: courseTagsByProviderIdAndCourseId { nodes { one: tagByProviderIdAndTagId { ${names(tagFields)} } } }`;
const nested = `
  course: courseByProviderIdAndCourseId { ${names(courseHeadFields)} ${tags} }
  location: locationByProviderIdAndLocationId { ${names(locationFields)} }
  instructors: courseDateInstructorsByProviderIdAndCourseDateId {
    nodes { one: instructorByProviderIdAndInstructorId { ${names(instructorFields)} } }
  }`;
const tagTitles = (course: any) => course.tags.nodes.map(({ one }: any) => one.title);
