import type { FastifyInstance } from 'fastify';
import { Gauge } from 'prom-client';
import type { QueueUsage } from '../../../database/keyed-queue.ts';
import { passwordQueueUsage } from '../../../resources/auth/password-service.ts';
import { createReadCounter, type CreateArea } from '../../../interfaces/plugin/metrics.ts';

/** Queues of requests: lists, writes and password hashes. */
export const queueMetrics: CreateArea = (register, { database }) => {
  const labelNames = ['queue'] as const;
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers: [register] });
  const counter = (name: string, help: string) => createReadCounter(register, { name, help, labelNames: ['queue'] });
  const waiting = gauge('booking_queue_waiting', 'Work that waits in a queue');
  const running = gauge('booking_queue_running', 'Work that has left a queue and is in progress');
  const longestWait = gauge('booking_queue_longest_wait_seconds', 'How long the first in the queue waits by now');
  const started = counter('booking_queue_started_total', 'Work that left a queue, after a wait or without one');
  const waited = counter('booking_queue_wait_seconds_total', 'Sum of the waits of the work that left a queue');
  return {
    refresh(app) {
      for (const [queue, usage] of Object.entries(queuesOf(app, database.usage().writes))) {
        waiting.set({ queue }, usage.waiting);
        running.set({ queue }, usage.running);
        longestWait.set({ queue }, usage.longestWaitMs / 1_000);
        started.set(usage.started, { queue });
        waited.set(usage.waitedMs / 1_000, { queue });
      }
    },
  };
};

/** The hashes of all applications in a process share one queue. */
const queuesOf = ({ listCache: { limiter } }: FastifyInstance, writes: QueueUsage) => ({
  ...(limiter && { lists: limiter.usage() }),
  ...{ writes, passwords: passwordQueueUsage() },
});
