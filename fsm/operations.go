package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Every operation that can be in the log: its code, its name, the feature level that it needs, its price, and what applies it.
// Codes are append-only: those of a released level are listed in testdata/released.
var (
	// Exec runs commands: one, a pipeline, or a transaction.
	Exec = define(1, "exec", env.Base, execPrice, (*State).exec).revokes((*Batch).revokes).lending((*applier).lend)
	// Advance moves what is due; with nothing due it is the tick that moves time.
	Advance = define(2, "advance", env.Base, advancePrice, (*State).advance).aliasing()
	// SetLevel raises the feature level.
	SetLevel = define(4, "set level", env.Base, every, (*State).setLevel)
	// NewTerm opens a leader's term.
	NewTerm = define(5, "new term", env.Base, every, (*State).newTerm)
	// Register opens a node's session.
	Register = define(6, "register", env.Base, every, (*State).register)
	// BootstrapState writes the cluster's first settings, once.
	BootstrapState = define(7, "bootstrap", env.Base, small, (*State).bootstrap)
	// TakeDigest makes every node hash the state as it is at this entry.
	TakeDigest = define(8, "take digest", env.Base, small, (*State).takeDigest)
	// ReportDigest says what a node's hash is.
	ReportDigest = define(9, "report digest", env.Base, every, (*State).reportDigest)
	// Configure changes the replicated settings.
	Configure = define(10, "configure", env.Base, small, (*State).configure)
	// AdmitNode remembers a node and its disk, and returns the record that the cluster then has.
	AdmitNode = define(29, "admit node", env.Base, every, (*State).admitNode)
	// RemoveNode notes that a node leaves the cluster, or has left it.
	RemoveNode = define(11, "remove node", env.Base, every, (*State).removeNode)
	// CreateDatabase, DeleteDatabase and ResetTokens are those of /admin/databases.
	CreateDatabase = define(12, "create database", env.Base, every, (*State).createDatabase)
	DeleteDatabase = define(13, "delete database", env.Base, every, (*State).deleteDatabase).revokes(always)
	ResetTokens    = define(14, "reset tokens", env.Base, small, (*State).resetTokens).revokes(always)
	// TakeQuota gives a node commands of a database's daily quota.
	TakeQuota = define(15, "take quota", env.Base, small, (*State).takeQuota)
	// Subscribe says how many subscribers a node has.
	Subscribe = define(30, "subscribe", env.Base, subscribePrice, (*State).subscribe)
	// ForgetSubscribers ends the subscriptions of a node that can't be reached.
	ForgetSubscribers = define(31, "forget subscribers", env.Base, every, (*State).forgetSubscribers)
	// StageBackup brings a part of a backup that is to be restored, or calls it off.
	StageBackup = define(40, "stage backup", env.Base, stagePrice, (*State).stageBackup)
	// RestoreBackup replaces the state by that of the backup that was brought in.
	RestoreBackup = define(41, "restore backup", env.Base, restorePrice, (*State).restoreBackup).revokes(always)
	// Finish tells how attempts went.
	Finish = define(3, "finish", env.Base, finishPrice, (*State).finish)
	// FinishCommit tells how an attempt went whose answer brings commands; see commit.go.
	FinishCommit = defineOwned(69, "finish with commands", env.Files, answerPrice, tenant.finishCommit)
	// Publish makes messages: publish, enqueue and batch.
	Publish = defineOwned(16, "publish", env.Base, messagesPriceWithin((*queue.Store).PublishPrice), inMessages((*queue.Store).Publish))
	// CancelMessages cancels messages, one or many.
	CancelMessages = defineOwned(17, "cancel messages", env.Base, messagesPrice((*queue.Store).CancelPrice), inMessages((*queue.Store).Cancel))
	// Renew prolongs the leases of attempts under way.
	Renew = define(18, "renew", env.Base, renewPrice, (*State).renew)
	// ChangeQueue makes, pauses, resumes or deletes a queue.
	ChangeQueue = defineOwned(19, "change queue", env.Base, messagesPrice((*queue.Store).ChangeQueuePrice), inMessages((*queue.Store).ChangeQueue))
	// PutSchedule makes or overwrites a schedule.
	PutSchedule = defineOwned(20, "put schedule", env.Base, messagesPrice((*queue.Store).SchedulePrice), inMessages((*queue.Store).PutSchedule))
	// ChangeSchedule pauses, resumes or deletes a schedule.
	ChangeSchedule = defineOwned(21, "change schedule", env.Base, messagesPrice((*queue.Store).ChangeSchedulePrice), inMessages((*queue.Store).ChangeSchedule))
	// ChangeGroup makes, changes or deletes a URL group.
	ChangeGroup = defineOwned(22, "change group", env.Base, messagesPrice((*queue.Store).ChangeGroupPrice), inMessages((*queue.Store).ChangeGroup)).aliasing()
	// ChangeFlowControl pauses, resumes, pins, unpins or resets a flow-control key.
	ChangeFlowControl = defineOwned(23, "change flow control", env.Base, messagesPrice((*queue.Store).FlowControlPrice), inMessages((*queue.Store).ChangeFlowControl))
	// SetParallelism bounds the attempts under way at once.
	SetParallelism = defineOwned(24, "set parallelism", env.Base, settingPrice, inMessages((*queue.Store).SetParallelism))
	// RotateKeys changes the signing keys, or sets them.
	RotateKeys = defineOwned(25, "rotate keys", env.Base, settingPrice, inMessages((*queue.Store).Rotate))
	// DeleteDead deletes dead letters.
	DeleteDead = defineOwned(26, "delete dead letters", env.Base, messagesPrice((*queue.Store).DeleteDeadPrice), inMessages((*queue.Store).DeleteDead))
	// RetryDead publishes dead letters anew.
	RetryDead = defineOwned(27, "retry dead letters", env.Base, messagesPriceWithin((*queue.Store).RetryDeadPrice), inMessages((*queue.Store).RetryDead))
	// ConfigureMessages replaces the settings of messages.
	ConfigureMessages = defineOwned(28, "configure messages", env.Base, settingPrice, inMessages((*queue.Store).Configure))
	// Submit starts runs, and appends steps and calls to runs.
	Submit = defineOwned(48, "submit steps", env.Base, submitPrice, tenant.submit)
	// Await has a step wait for an event.
	Await = defineOwned(49, "await", env.Base, workflowsPrice((*workflow.Store).AwaitPrice), inRuns((*workflow.Store).Await))
	// NotifyEvent wakes the waiters of an event.
	NotifyEvent = defineOwned(50, "notify event", env.Base, workflowsPriceWithin((*workflow.Store).NotifyPrice), inRuns((*workflow.Store).Notify)).aliasing()
	// EndRun ends a run with success.
	EndRun = defineOwned(51, "end run", env.Base, workflowsPrice((*workflow.Store).EndPrice), inRuns((*workflow.Store).End))
	// CancelRuns cancels runs, one or many.
	CancelRuns = defineOwned(52, "cancel runs", env.Base, workflowsPrice((*workflow.Store).CancelPrice), inRuns((*workflow.Store).Cancel))
	// Revive resumes or restarts dead runs.
	Revive = defineOwned(53, "revive", env.Base, workflowsPriceWithin((*workflow.Store).RevivePrice), inRuns((*workflow.Store).Revive))
	// DeleteDeadRuns deletes dead letters of runs.
	DeleteDeadRuns = defineOwned(54, "delete dead runs", env.Base, workflowsPrice((*workflow.Store).DeleteDeadPrice), inRuns((*workflow.Store).DeleteDead))
	// ChangeCallback calls a failure callback once more, or cancels it.
	ChangeCallback = defineOwned(55, "change callback", env.Base, workflowsPrice((*workflow.Store).CallbackPrice), inRuns((*workflow.Store).ChangeCallback))
	// ConfigureWorkflows replaces the settings of workflows.
	ConfigureWorkflows = defineOwned(56, "configure flows", env.Base, settingPrice, inWorkflows((*workflow.Store).Configure))
	// InDatabase applies an operation that belongs to a database to another one than default.
	InDatabase = define(57, "in database", env.Base, inDatabasePrice, (*State).inDatabase)
	// RunNow ends the wait of a message for the time of its next attempt.
	RunNow = defineOwned(58, "run now", env.Base, settingPrice, tenant.runNow)
	// BulkCancel cancels the messages of a filter, by as many entries as it takes.
	BulkCancel = defineOwned(59, "bulk cancel", env.Base, messagesPrice((*queue.Store).BulkPrice), inMessages((*queue.Store).BulkCancel)).aliasing()
	// BulkCancelRuns does the same for runs.
	BulkCancelRuns = defineOwned(60, "bulk cancel runs", env.Base, workflowsPrice((*workflow.Store).BulkPrice), inRuns((*workflow.Store).BulkCancel)).aliasing()
	// EndSession signs a session of the console out.
	EndSession = define(62, "end session", env.Base, small, (*State).endSession).revokes(always)
	// Reset empties the keyspaces, messages and workflows of a development server; see reset.go.
	Reset = define(63, "reset", env.Base, whole, (*State).reset)
	// RotateTokens replaces tokens; the former ones stay in force for a time. See tokens.go.
	RotateTokens = define(64, "rotate tokens", env.Base, small, (*State).rotateTokens).revokes(always)
	// EndTokenOverlap ends that time.
	EndTokenOverlap = define(65, "end token overlap", env.Base, small, (*State).endTokenOverlap).revokes(always)
	// ImportMessages takes messages and runs that have come in over into a database; see portable.go.
	ImportMessages = define(66, "import messages", env.Base, importPrice, (*State).importMessages)
	// RunSchedule publishes what a schedule publishes once more, now.
	RunSchedule = defineOwned(68, "run schedule", env.Base, messagesPrice((*queue.Store).RunSchedulePrice), inMessages((*queue.Store).RunSchedule))
	// Evict removes keys that the leader has picked because memory is full.
	Evict = define(67, "evict", env.Base, evictPrice, (*State).evictPicked)
	// ConfigureDatabase changes the settings of a database that only the operator may change; see memory.go.
	ConfigureDatabase = define(90, "configure database", env.Base, small, (*State).configureDatabase)
	// ResumeRun has a run go on that is paused at the end of its retries.
	ResumeRun = defineOwned(75, "resume run", env.Files, workflowsPrice((*workflow.Store).ResumePrice), inRuns((*workflow.Store).Resume))
	// ChangeDeployment makes, changes or deletes a deployment of workflow runs.
	ChangeDeployment = defineOwned(76, "change deployment", env.Files, workflowsPrice((*workflow.Store).ChangeDeploymentPrice), inWorkflows((*workflow.Store).ChangeDeployment))
	// MoveRuns moves active runs to another deployment, by as many entries as it takes.
	MoveRuns = defineOwned(77, "move runs", env.Files, workflowsPrice((*workflow.Store).MovePrice), inRuns((*workflow.Store).Move))
	// ForkRun starts a run with a part of the log of another one.
	ForkRun = defineOwned(80, "fork run", env.Files, workflowsPrice((*workflow.Store).ForkRunPrice), inRuns((*workflow.Store).ForkRun))
	// HoldExpiry keeps keys past their deadline while clients are paused; see pause.go.
	HoldExpiry = defineOwned(91, "hold expiry", env.Base, settingPrice, tenant.holdExpiry)
	// Quarantine puts a database into quarantine from an earlier entry on; see quarantine.go.
	Quarantine = define(92, "quarantine", env.Base, small, (*State).quarantine)
	// Release ends that.
	Release = define(93, "release from quarantine", env.Base, small, (*State).release)
)
