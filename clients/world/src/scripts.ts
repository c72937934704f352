// The scripts.
import { script } from "./client.js";
import * as hooks from "./lua/hooks.js";
import * as queue from "./lua/queue.js";
import * as runs from "./lua/runs.js";
import * as steps from "./lua/steps.js";
import * as streams from "./lua/streams.js";

export const scripts = {
  runCreated: script(runs.runCreated),
  runStarted: script(runs.runStarted),
  runEnded: script(runs.runEnded),
  resumed: script(runs.resumed, true),
  runRead: script(runs.runRead, true),
  runList: script(runs.runList, true),
  stepCreated: script(steps.stepCreated),
  stepStarted: script(steps.stepStarted),
  stepEnded: script(steps.stepEnded),
  stepRead: script(steps.stepRead, true),
  stepList: script(steps.stepList, true),
  eventList: script(steps.eventList, true),
  hookCreated: script(hooks.hookCreated),
  hookReceived: script(hooks.hookReceived),
  hookDisposed: script(hooks.hookDisposed),
  waitChanged: script(hooks.waitChanged),
  hookRead: script(hooks.hookRead, true),
  hookList: script(hooks.hookList, true),
  wakeRun: script(queue.wakeRun),
  sendStep: script(queue.sendStep),
  putOff: script(queue.putOff),
  streamWrite: script(streams.streamWrite),
  streamInfo: script(streams.streamInfo, true),
  streamRead: script(streams.streamRead, true),
};
