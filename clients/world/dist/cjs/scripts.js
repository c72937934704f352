"use strict";
var __createBinding = (this && this.__createBinding) || (Object.create ? (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    var desc = Object.getOwnPropertyDescriptor(m, k);
    if (!desc || ("get" in desc ? !m.__esModule : desc.writable || desc.configurable)) {
      desc = { enumerable: true, get: function() { return m[k]; } };
    }
    Object.defineProperty(o, k2, desc);
}) : (function(o, m, k, k2) {
    if (k2 === undefined) k2 = k;
    o[k2] = m[k];
}));
var __setModuleDefault = (this && this.__setModuleDefault) || (Object.create ? (function(o, v) {
    Object.defineProperty(o, "default", { enumerable: true, value: v });
}) : function(o, v) {
    o["default"] = v;
});
var __importStar = (this && this.__importStar) || (function () {
    var ownKeys = function(o) {
        ownKeys = Object.getOwnPropertyNames || function (o) {
            var ar = [];
            for (var k in o) if (Object.prototype.hasOwnProperty.call(o, k)) ar[ar.length] = k;
            return ar;
        };
        return ownKeys(o);
    };
    return function (mod) {
        if (mod && mod.__esModule) return mod;
        var result = {};
        if (mod != null) for (var k = ownKeys(mod), i = 0; i < k.length; i++) if (k[i] !== "default") __createBinding(result, mod, k[i]);
        __setModuleDefault(result, mod);
        return result;
    };
})();
Object.defineProperty(exports, "__esModule", { value: true });
exports.scripts = void 0;
// The scripts.
const client_js_1 = require("./client.js");
const hooks = __importStar(require("./lua/hooks.js"));
const queue = __importStar(require("./lua/queue.js"));
const runs = __importStar(require("./lua/runs.js"));
const steps = __importStar(require("./lua/steps.js"));
const streams = __importStar(require("./lua/streams.js"));
exports.scripts = {
    runCreated: (0, client_js_1.script)(runs.runCreated),
    runStarted: (0, client_js_1.script)(runs.runStarted),
    runEnded: (0, client_js_1.script)(runs.runEnded),
    resumed: (0, client_js_1.script)(runs.resumed, true),
    runRead: (0, client_js_1.script)(runs.runRead, true),
    runList: (0, client_js_1.script)(runs.runList, true),
    stepCreated: (0, client_js_1.script)(steps.stepCreated),
    stepStarted: (0, client_js_1.script)(steps.stepStarted),
    stepEnded: (0, client_js_1.script)(steps.stepEnded),
    stepRead: (0, client_js_1.script)(steps.stepRead, true),
    stepList: (0, client_js_1.script)(steps.stepList, true),
    eventList: (0, client_js_1.script)(steps.eventList, true),
    hookCreated: (0, client_js_1.script)(hooks.hookCreated),
    hookReceived: (0, client_js_1.script)(hooks.hookReceived),
    hookDisposed: (0, client_js_1.script)(hooks.hookDisposed),
    waitChanged: (0, client_js_1.script)(hooks.waitChanged),
    hookRead: (0, client_js_1.script)(hooks.hookRead, true),
    hookList: (0, client_js_1.script)(hooks.hookList, true),
    wakeRun: (0, client_js_1.script)(queue.wakeRun),
    sendStep: (0, client_js_1.script)(queue.sendStep),
    putOff: (0, client_js_1.script)(queue.putOff),
    streamWrite: (0, client_js_1.script)(streams.streamWrite),
    streamInfo: (0, client_js_1.script)(streams.streamInfo, true),
    streamRead: (0, client_js_1.script)(streams.streamRead, true),
};
