package fsm

import (
	"trireme/fsm/env"
	"trireme/fsm/wire"
)

// Every operation that may stand in the log. Codes are append-only.
var (
	// Exec runs commands: one, a pipeline, or a transaction.
	Exec = &Operation[Batch, Results]{Code: 1, Name: "exec", Since: env.Base,
		encode: encodeBatch, decode: decodeBatch, encodeR: encodeResults, decodeR: decodeResults, apply: (*State).exec, revokes: Batch.revokes}
	// Advance moves what is due; with nothing due it is the tick that moves time.
	Advance = &Operation[AdvanceLimit, Advanced]{Code: 2, Name: "advance", Since: env.Base,
		encode: encodeRecord[AdvanceLimit], decode: decodeRecord[AdvanceLimit], encodeR: encodeRecord[Advanced], decodeR: decodeRecord[Advanced], apply: (*State).advance}
	// SetLevel raises the feature level.
	SetLevel = &Operation[LevelChange, LevelChange]{Code: 4, Name: "set level", Since: env.Base,
		encode: encodeRecord[LevelChange], decode: decodeRecord[LevelChange], encodeR: encodeRecord[LevelChange], decodeR: decodeRecord[LevelChange], apply: (*State).setLevel}
	// NewTerm opens a leader's term.
	NewTerm = &Operation[Opening, Opened]{Code: 5, Name: "new term", Since: env.Base,
		encode: encodeRecord[Opening], decode: decodeRecord[Opening], encodeR: encodeRecord[Opened], decodeR: decodeRecord[Opened], apply: (*State).newTerm}
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
	// RemoveNode deletes a removed node's session.
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
)

// byCode finds an operation by its code.
var byCode = func() []operation {
	table := make([]operation, 32)
	for _, o := range []operation{Exec, Advance, SetLevel, NewTerm, Register, Found, TakeDigest, ReportDigest, Configure, RemoveNode,
		CreateDatabase, DeleteDatabase, ResetTokens, TakeQuota, Subscribe, ForgetSubscribers} {
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
