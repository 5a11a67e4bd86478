-- Hashes of before service_state.secret, which no limit counts and no erasure finds. The keys remain: a form books once.
UPDATE "catalog_posts" SET "recipients" = '{}', "address_hash" = NULL;
