import { type Command } from 'commander';
import { addCategory, listCategories, categorizeCourse } from '../../domains/courses/courses/category-service.ts';
import { command, id, run, slug, table, title, type Options } from './run.ts';

export function categoryCommands(program: Command) {
  const course = program.command('course').description('Courses of a provider');
  command(course, 'categorize', 'Assign a course to a category of the catalog')
    .requiredOption('--provider <id>', 'provider of the course', id)
    .requiredOption('--course <id>', 'id of the course', id)
    .requiredOption('--category <id>', 'id of the category', id)
    .action((options: Options & { provider: number; course: number; category: number }) =>
      run(options, async ({ getCtx }) => {
        await categorizeCourse(await getCtx(options.provider), options.course, options.category);
        const json = { provider_id: options.provider, course_id: options.course, category_id: options.category };
        return { json, text: `Assigned course ${options.course} to category ${options.category}` };
      }),
    );

  const category = program.command('category').description('Categories of the catalog, shared by all providers');
  command(category, 'list', 'List all categories').action((options: Options) =>
    run(options, async ({ database }) => {
      const rows = await listCategories(database);
      return { json: rows, text: table(rows, 'No categories yet') };
    }),
  );
  command(category, 'add', 'Add a category')
    .requiredOption('--title <title>', 'title of the category', title)
    .option('--parent <id>', 'id of the parent category', id)
    .option('--slug <slug>', 'part of the URL; derived from the title by default', slug)
    .action((options: Options & { title: string; parent?: number; slug?: string }) =>
      run(options, async ({ database }) => {
        const categoryId = await addCategory(database, { ...options, parentId: options.parent ?? null });
        return { json: { category_id: categoryId }, text: `Added category ${categoryId}: ${options.title}` };
      }),
    );
}
