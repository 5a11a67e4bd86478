/** Functions with the names of those of Citus, which only note their calls. */
export const stubs = `
  create schema citus_stubs;
  create table citus_stubs.calls (position serial, name text);
  create view pg_dist_partition as select name::regclass as logicalrelid from citus_stubs.calls;
  create view pg_dist_object as select 'pg_class'::regclass::oid as classid, 0::oid as objid;
  create table citus_stubs.functions (name text);
  create function create_distributed_function(name regprocedure) returns void language sql
    as $$ insert into citus_stubs.functions values (name::text) $$;
  create function create_reference_table(name regclass) returns void language sql
    as $$ insert into citus_stubs.calls (name) values (name::text) $$;
  create function create_distributed_table(name regclass, key text, colocate_with text) returns void language sql
    as $$ insert into citus_stubs.calls (name) values (name::text) $$`;

/** The extension, a coordinator and two workers, in which the shard of a school is a number. A stopped one takes no key of its schools. */
const workers = `
  create view pg_available_extensions as select 'citus' as name;
  create view pg_extension as select 'citus' as extname;
  create table pg_dist_node (nodeid int, groupid int, nodename text, nodeport int, noderole text, shouldhaveshards boolean,
    is_stopped boolean not null default false);
  insert into pg_dist_node select n, n, 'server' || n, 5432, 'primary', n > 0 from generate_series(0, 2) n;
  create table pg_dist_placement as select n as shardid, 1 + n % 2 as groupid from generate_series(0, 3) n;
  create function get_shard_id_for_distribution_column(name regclass, provider bigint) returns bigint language sql
    as $$ select provider % 4 $$;
  create function run_command_on_all_nodes(command text) returns table (nodeid int, success boolean, result text)
    language plpgsql as $$ begin
      execute command into result;
      return query select n.nodeid, true, result from citus_stubs.pg_dist_node n;
    end $$;
  create function run_command_on_workers(command text) returns table (nodename text, nodeport int, success boolean)
    language sql as $$ select nodename, nodeport, not is_stopped from citus_stubs.pg_dist_node where nodeid > 0 $$;
  create function citus_move_shard_placement(shard bigint, host text, port int, to_host text, to_port int) returns void
    language sql as $$
      update citus_stubs.pg_dist_placement set groupid = n.groupid from citus_stubs.pg_dist_node n
        where shardid = shard and (n.nodename, n.nodeport) = (to_host, to_port) $$;
  create function reach(provider bigint) returns void language plpgsql as $$ begin
      if (select n.is_stopped from citus_stubs.pg_dist_node n join citus_stubs.pg_dist_placement p using (groupid)
          where p.shardid = provider % 4) then
        raise exception 'the worker is stopped' using errcode = '08006';
      end if;
    end $$;
  create function stop_worker() returns void language plpgsql as $$ begin
      execute replace(pg_get_functiondef('public.find_key'::regproc), 'WHERE k.hash = key_hash',
        'WHERE k.hash = key_hash AND citus_stubs.reach(k.provider_id)::text IS NOT NULL');
      update citus_stubs.pg_dist_node set is_stopped = true where nodeid = 2;
    end $$;
  create function start_worker() returns void language sql
    as $$ update citus_stubs.pg_dist_node set is_stopped = false $$`;

/** Makes an empty database of a PostgreSQL server look like that of a coordinator. */
export const coordinatorOf = (database: string, timezone: string) => ({
  settings: Object.entries({
    timezone: `'${timezone}'`,
    'citus.propagate_set_commands': `'local'`,
    'citus.multi_shard_modify_mode': `'sequential'`,
    'citus.enable_unsafe_triggers': `'on'`,
    'citus.enable_local_reference_table_foreign_keys': `'off'`,
    // Before the views of the system.
    search_path: 'public, citus_stubs, pg_catalog',
  }).map(([name, value]) => `alter database ${database} set ${name} = ${value}`),
  functions:
    stubs.replace('create schema citus_stubs;', 'create schema citus_stubs; set search_path = citus_stubs;') +
    `;${workers}`,
});
