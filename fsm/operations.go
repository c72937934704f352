package fsm

import (
	"bytes"

	"trireme/fsm/env"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// Every operation that may stand in the log. Codes are append-only.
var (
	// Exec runs commands: one, a pipeline, or a transaction.
	Exec = &Operation[Batch, Results]{Code: 1, Name: "exec", Since: env.Base,
		encode: encodeBatch, decode: decodeBatch, encodeR: encodeResults, decodeR: decodeResults, apply: (*State).exec, revokes: Batch.revokes}
	// Advance moves what is due; with nothing due it is the tick that moves time.
	Advance = &Operation[AdvanceLimit, Advanced]{Code: 2, Name: "advance", Since: env.Base,
		encode: encodeRecord[AdvanceLimit], decode: decodeRecord[AdvanceLimit], encodeR: encodeRecord[Advanced], decodeR: decodeOwned[Advanced], apply: (*State).advance}
	// SetLevel raises the feature level.
	SetLevel = &Operation[LevelChange, LevelChange]{Code: 4, Name: "set level", Since: env.Base,
		encode: encodeRecord[LevelChange], decode: decodeRecord[LevelChange], encodeR: encodeRecord[LevelChange], decodeR: decodeRecord[LevelChange], apply: (*State).setLevel}
	// NewTerm opens a leader's term.
	NewTerm = &Operation[Term, Opened]{Code: 5, Name: "new term", Since: env.Base,
		encode: encodeRecord[Term], decode: decodeRecord[Term], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).newTerm}
	// Register opens a node's session.
	Register = &Operation[Registration, Session]{Code: 6, Name: "register", Since: env.Base,
		encode: encodeRecord[Registration], decode: decodeRecord[Registration], encodeR: encodeRecord[Session], decodeR: decodeRecord[Session], apply: (*State).register}
	// Found writes the cluster's first settings, once.
	Found = &Operation[Founding, Opened]{Code: 7, Name: "found", Since: env.Base,
		encode: encodeRecord[Founding], decode: decodeRecord[Founding], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).found}
	// TakeDigest makes every node hash the state as it is at this entry.
	TakeDigest = &Operation[Opening, Opened]{Code: 8, Name: "take digest", Since: env.Base,
		encode: encodeRecord[Opening], decode: decodeRecord[Opening], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).takeDigest}
	// ReportDigest says what a node's hash is.
	ReportDigest = &Operation[DigestReport, DigestVerdict]{Code: 9, Name: "report digest", Since: env.Base,
		encode: encodeRecord[DigestReport], decode: decodeRecord[DigestReport], encodeR: encodeRecord[DigestVerdict], decodeR: decodeRecord[DigestVerdict], apply: (*State).reportDigest}
	// Configure changes the replicated settings.
	Configure = &Operation[Settings, Settings]{Code: 10, Name: "configure", Since: env.Base,
		encode: encodeRecord[Settings], decode: decodeRecord[Settings], encodeR: encodeRecord[Settings], decodeR: decodeRecord[Settings], apply: (*State).configure}
	// AdmitNode remembers a node and its disk; the result is what is remembered then.
	AdmitNode = &Operation[NodeRecord, NodeRecord]{Code: 29, Name: "admit node", Since: env.Base,
		encode: encodeRecord[NodeRecord], decode: decodeRecord[NodeRecord], encodeR: encodeRecord[NodeRecord], decodeR: decodeRecord[NodeRecord], apply: (*State).admitNode}
	// RemoveNode notes that a node leaves the cluster, or has left it.
	RemoveNode = &Operation[NodeRef, Opened]{Code: 11, Name: "remove node", Since: env.Base,
		encode: encodeRecord[NodeRef], decode: decodeRecord[NodeRef], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).removeNode}
	// CreateDatabase, DeleteDatabase and ResetTokens are those of /admin/databases.
	CreateDatabase = &Operation[DatabaseTokens, DatabaseInfo]{Code: 12, Name: "create database", Since: env.Base,
		encode: encodeRecord[DatabaseTokens], decode: decodeRecord[DatabaseTokens], encodeR: encodeRecord[DatabaseInfo], decodeR: decodeRecord[DatabaseInfo], apply: (*State).createDatabase}
	DeleteDatabase = &Operation[DatabaseName, DatabaseInfo]{Code: 13, Name: "delete database", Since: env.Base,
		encode: encodeRecord[DatabaseName], decode: decodeRecord[DatabaseName], encodeR: encodeRecord[DatabaseInfo], decodeR: decodeRecord[DatabaseInfo], apply: (*State).deleteDatabase,
		revokes: func(DatabaseName) bool { return true }}
	ResetTokens = &Operation[DatabaseTokens, DatabaseInfo]{Code: 14, Name: "reset tokens", Since: env.Base,
		encode: encodeRecord[DatabaseTokens], decode: decodeRecord[DatabaseTokens], encodeR: encodeRecord[DatabaseInfo], decodeR: decodeRecord[DatabaseInfo], apply: (*State).resetTokens,
		revokes: func(DatabaseTokens) bool { return true }}
	// TakeQuota gives a node commands of a database's daily quota.
	TakeQuota = &Operation[QuotaClaim, Quota]{Code: 15, Name: "take quota", Since: env.Base,
		encode: encodeRecord[QuotaClaim], decode: decodeRecord[QuotaClaim], encodeR: encodeRecord[Quota], decodeR: decodeRecord[Quota], apply: (*State).takeQuota}
	// Subscribe says how many subscribers a node has.
	Subscribe = &Operation[Subscribers, Opened]{Code: 30, Name: "subscribe", Since: env.Base,
		encode: encodeRecord[Subscribers], decode: decodeRecord[Subscribers], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).subscribe}
	// ForgetSubscribers ends the subscriptions of a node that can't be reached.
	ForgetSubscribers = &Operation[SessionRef, Opened]{Code: 31, Name: "forget subscribers", Since: env.Base,
		encode: encodeRecord[SessionRef], decode: decodeRecord[SessionRef], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).forgetSubscribers}
	// StageBackup brings a part of a backup that is to be restored, or calls it off.
	StageBackup = &Operation[BackupPart, Opened]{Code: 40, Name: "stage backup", Since: env.Base,
		encode: encodeRecord[BackupPart], decode: decodeRecord[BackupPart], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).stageBackup}
	// RestoreBackup replaces the state by that of the backup that was brought in.
	RestoreBackup = &Operation[BackupRef, Restoration]{Code: 41, Name: "restore backup", Since: env.Base,
		encode: encodeRecord[BackupRef], decode: decodeRecord[BackupRef], encodeR: encodeRecord[Restoration], decodeR: decodeRecord[Restoration], apply: (*State).restoreBackup,
		revokes: func(BackupRef) bool { return true }}
	// Finish tells how attempts went.
	Finish = &Operation[queue.Results, queue.Fates]{Code: 3, Name: "finish", Since: env.Base,
		encode: encodeRecord[queue.Results], decode: decodeRecord[queue.Results], encodeR: encodeRecord[queue.Fates], decodeR: decodeRecord[queue.Fates], apply: (*State).finish}
	// Publish makes messages: publish, enqueue and batch.
	Publish = &Operation[queue.Publications, queue.Receipts]{Code: 16, Name: "publish", Since: env.Base,
		encode: encodeRecord[queue.Publications], decode: decodeRecord[queue.Publications], encodeR: encodeRecord[queue.Receipts], decodeR: decodeRecord[queue.Receipts], apply: (*State).publish}
	// CancelMessages cancels messages, one or many.
	CancelMessages = &Operation[queue.Cancellation, queue.Cancelled]{Code: 17, Name: "cancel messages", Since: env.Base,
		encode: encodeRecord[queue.Cancellation], decode: decodeRecord[queue.Cancellation], encodeR: encodeRecord[queue.Cancelled], decodeR: decodeRecord[queue.Cancelled], apply: (*State).cancelMessages}
	// Renew prolongs the leases of attempts under way.
	Renew = &Operation[queue.Renewal, queue.Renewed]{Code: 18, Name: "renew", Since: env.Base,
		encode: encodeRecord[queue.Renewal], decode: decodeRecord[queue.Renewal], encodeR: encodeRecord[queue.Renewed], decodeR: decodeRecord[queue.Renewed], apply: (*State).renew}
	// ChangeQueue makes, pauses, resumes or deletes a queue.
	ChangeQueue = &Operation[queue.QueueChange, queue.Queue]{Code: 19, Name: "change queue", Since: env.Base,
		encode: encodeRecord[queue.QueueChange], decode: decodeRecord[queue.QueueChange], encodeR: encodeRecord[queue.Queue], decodeR: decodeRecord[queue.Queue], apply: (*State).changeQueue}
	// PutSchedule makes or overwrites a schedule.
	PutSchedule = &Operation[queue.SchedulePut, queue.ScheduleRef]{Code: 20, Name: "put schedule", Since: env.Base,
		encode: encodeRecord[queue.SchedulePut], decode: decodeRecord[queue.SchedulePut], encodeR: encodeRecord[queue.ScheduleRef], decodeR: decodeRecord[queue.ScheduleRef], apply: (*State).putSchedule}
	// ChangeSchedule pauses, resumes or deletes a schedule.
	ChangeSchedule = &Operation[queue.ScheduleChange, queue.ScheduleRef]{Code: 21, Name: "change schedule", Since: env.Base,
		encode: encodeRecord[queue.ScheduleChange], decode: decodeRecord[queue.ScheduleChange], encodeR: encodeRecord[queue.ScheduleRef], decodeR: decodeRecord[queue.ScheduleRef], apply: (*State).changeSchedule}
	// ChangeGroup makes, changes or deletes a URL group.
	ChangeGroup = &Operation[queue.GroupChange, queue.Group]{Code: 22, Name: "change group", Since: env.Base,
		encode: encodeRecord[queue.GroupChange], decode: decodeRecord[queue.GroupChange], encodeR: encodeRecord[queue.Group], decodeR: decodeOwned[queue.Group], apply: (*State).changeGroup}
	// ChangeFlow pauses, resumes, pins, unpins or resets a flow-control key.
	ChangeFlow = &Operation[queue.FlowChange, queue.FlowInfo]{Code: 23, Name: "change flow control", Since: env.Base,
		encode: encodeRecord[queue.FlowChange], decode: decodeRecord[queue.FlowChange], encodeR: encodeRecord[queue.FlowInfo], decodeR: decodeRecord[queue.FlowInfo], apply: (*State).changeFlow}
	// SetParallelism bounds the attempts under way at once.
	SetParallelism = &Operation[queue.Parallelism, queue.Parallelism]{Code: 24, Name: "set parallelism", Since: env.Base,
		encode: encodeRecord[queue.Parallelism], decode: decodeRecord[queue.Parallelism], encodeR: encodeRecord[queue.Parallelism], decodeR: decodeRecord[queue.Parallelism], apply: (*State).setParallelism}
	// RotateKeys changes the signing keys, or sets them.
	RotateKeys = &Operation[queue.Rotation, queue.Keys]{Code: 25, Name: "rotate keys", Since: env.Base,
		encode: encodeRecord[queue.Rotation], decode: decodeRecord[queue.Rotation], encodeR: encodeRecord[queue.Keys], decodeR: decodeRecord[queue.Keys], apply: (*State).rotateKeys}
	// DeleteDead deletes dead letters.
	DeleteDead = &Operation[queue.DeadSelection, queue.DeadDeleted]{Code: 26, Name: "delete dead letters", Since: env.Base,
		encode: encodeRecord[queue.DeadSelection], decode: decodeRecord[queue.DeadSelection], encodeR: encodeRecord[queue.DeadDeleted], decodeR: decodeRecord[queue.DeadDeleted], apply: (*State).deleteDead}
	// RetryDead publishes dead letters anew.
	RetryDead = &Operation[queue.DeadRetry, queue.DeadRetried]{Code: 27, Name: "retry dead letters", Since: env.Base,
		encode: encodeRecord[queue.DeadRetry], decode: decodeRecord[queue.DeadRetry], encodeR: encodeRecord[queue.DeadRetried], decodeR: decodeRecord[queue.DeadRetried], apply: (*State).retryDead}
	// ConfigureMessages replaces the settings of messages.
	ConfigureMessages = &Operation[queue.Settings, queue.Settings]{Code: 28, Name: "configure messages", Since: env.Base,
		encode: encodeRecord[queue.Settings], decode: decodeRecord[queue.Settings], encodeR: encodeRecord[queue.Settings], decodeR: decodeRecord[queue.Settings], apply: (*State).configureMessages}
	// Submit starts runs, and appends steps and calls to runs.
	Submit = &Operation[flow.Submissions, flow.Receipts]{Code: 48, Name: "submit steps", Since: env.Base,
		encode: encodeRecord[flow.Submissions], decode: decodeRecord[flow.Submissions], encodeR: encodeRecord[flow.Receipts], decodeR: decodeRecord[flow.Receipts], apply: (*State).submitSteps}
	// Await has a step wait for an event.
	Await = &Operation[flow.Await, flow.Receipt]{Code: 49, Name: "await", Since: env.Base,
		encode: encodeRecord[flow.Await], decode: decodeRecord[flow.Await], encodeR: encodeRecord[flow.Receipt], decodeR: decodeRecord[flow.Receipt], apply: (*State).await}
	// NotifyEvent wakes the waiters of an event.
	NotifyEvent = &Operation[flow.Notification, flow.Notified]{Code: 50, Name: "notify event", Since: env.Base,
		encode: encodeRecord[flow.Notification], decode: decodeRecord[flow.Notification], encodeR: encodeRecord[flow.Notified], decodeR: decodeOwned[flow.Notified], apply: (*State).notifyEvent}
	// EndRun ends a run with success.
	EndRun = &Operation[flow.Ending, flow.RunRef]{Code: 51, Name: "end run", Since: env.Base,
		encode: encodeRecord[flow.Ending], decode: decodeRecord[flow.Ending], encodeR: encodeRecord[flow.RunRef], decodeR: decodeRecord[flow.RunRef], apply: (*State).endRun}
	// CancelRuns cancels runs, one or many.
	CancelRuns = &Operation[flow.Cancellation, flow.Cancelled]{Code: 52, Name: "cancel runs", Since: env.Base,
		encode: encodeRecord[flow.Cancellation], decode: decodeRecord[flow.Cancellation], encodeR: encodeRecord[flow.Cancelled], decodeR: decodeRecord[flow.Cancelled], apply: (*State).cancelRuns}
	// Revive resumes or restarts dead runs.
	Revive = &Operation[flow.Revival, flow.Revived]{Code: 53, Name: "revive", Since: env.Base,
		encode: encodeRecord[flow.Revival], decode: decodeRecord[flow.Revival], encodeR: encodeRecord[flow.Revived], decodeR: decodeRecord[flow.Revived], apply: (*State).revive}
	// DeleteDeadRuns deletes dead letters of runs.
	DeleteDeadRuns = &Operation[flow.DeadSelection, flow.DeadDeleted]{Code: 54, Name: "delete dead runs", Since: env.Base,
		encode: encodeRecord[flow.DeadSelection], decode: decodeRecord[flow.DeadSelection], encodeR: encodeRecord[flow.DeadDeleted], decodeR: decodeRecord[flow.DeadDeleted], apply: (*State).deleteDeadRuns}
	// ChangeCallback calls a failure callback once more, or cancels it.
	ChangeCallback = &Operation[flow.CallbackChange, flow.RunRef]{Code: 55, Name: "change callback", Since: env.Base,
		encode: encodeRecord[flow.CallbackChange], decode: decodeRecord[flow.CallbackChange], encodeR: encodeRecord[flow.RunRef], decodeR: decodeRecord[flow.RunRef], apply: (*State).changeCallback}
	// ConfigureFlows replaces the settings of workflows.
	ConfigureFlows = &Operation[flow.Settings, flow.Settings]{Code: 56, Name: "configure flows", Since: env.Base,
		encode: encodeRecord[flow.Settings], decode: decodeRecord[flow.Settings], encodeR: encodeRecord[flow.Settings], decodeR: decodeRecord[flow.Settings], apply: (*State).configureFlows}
)

// byCode finds an operation by its code.
var byCode = func() []operation {
	table := make([]operation, 64)
	for _, o := range []operation{Exec, Advance, SetLevel, NewTerm, Register, Found, TakeDigest, ReportDigest, Configure, AdmitNode, RemoveNode,
		CreateDatabase, DeleteDatabase, ResetTokens, TakeQuota, Subscribe, ForgetSubscribers, StageBackup, RestoreBackup,
		Finish, Publish, CancelMessages, Renew, ChangeQueue, PutSchedule, ChangeSchedule, ChangeGroup, ChangeFlow, SetParallelism, RotateKeys, DeleteDead, RetryDead, ConfigureMessages,
		Submit, Await, NotifyEvent, EndRun, CancelRuns, Revive, DeleteDeadRuns, ChangeCallback, ConfigureFlows} {
		table[o.code()] = o
	}
	return table
}()

// record is what most arguments and results are: a struct that writes its fields.
type record[T any] interface {
	*T
	Encode(*wire.Writer)
	Decode(*wire.Reader)
}

func encodeRecord[T any, P record[T]](w *wire.Writer, v T) { P(&v).Encode(w) }

func decodeRecord[T any, P record[T]](r *wire.Reader) (T, error) {
	var v T
	P(&v).Decode(r)
	return v, r.Done()
}

// decodeOwned is decodeRecord for results that alias what they are read from.
func decodeOwned[T any, P record[T]](r *wire.Reader) (T, error) {
	return decodeRecord[T, P](wire.NewReader(bytes.Clone(r.Fixed(r.Len()))))
}
