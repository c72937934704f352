package command

import (
	"errors"
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// dumpRows carry values to and from Redis.
func dumpRows() []Command {
	return []Command{
		{Name: "dump", Arity: 2, Flags: ReadOnly | ReadOnlyUser, Keys: firstKey.with(roAccess), Cost: costValues, Work: dumpWork, Doc: Doc{Version: "2.6.0", Complexity: "O(n), where n is the size of the value",
			Syntax: "DUMP key", Summary: "Returns the value of a key in the format of Redis, which Redis 7.0 reads too unless fields of a hash have deadlines.",
			Tips: vagueOutput}, Run: dump},
		{Name: "restore", Arity: -4, Flags: Write | DenyOOM | Overwrites, Keys: firstKey.with(owUpdate), Cost: costConstant, Access: Access{Categories: acl.Dangerous}, Doc: Doc{Version: "2.6.0", Complexity: "O(n), where n is the size of the value",
			Syntax: "RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]", Summary: "Makes a key of what DUMP has given, here or in a Redis of up to version 8.", Changes: []Change{{"3.0.0", "Takes REPLACE."}, {"5.0.0", "Takes ABSTTL."}, {"5.0.0", "Takes IDLETIME and FREQ."}}}, Precheck: precheckRestore, Run: restore},
	}
}

var (
	errBusyKey  = reply.Error("BUSYKEY Target key name already exists.")
	errTTL      = reply.Error("ERR Invalid TTL value, must be >= 0")
	errIdleTime = reply.Error("ERR Invalid IDLETIME value, must be >= 0")
	errFreq     = reply.Error("ERR Invalid FREQ value, must be >= 0 and <= 255")
	errPayload  = reply.Error("ERR DUMP payload version or checksum are wrong")
	errFormat   = reply.Error("ERR Bad data format")
)

func dump(tx *Tx, a *Args) reply.Value {
	return ofObject(tx, a, func(o *keyspace.Object) reply.Value {
		payload, err := rdb.Dump(o, tx.Time)
		if err != nil {
			return reply.Error("ERR " + clean(err.Error()))
		}
		return reply.Bulk(keyspace.Adopt(payload))
	})
}

// restoreOptions are the words behind the payload. Idle times and frequencies are
// judged, and have no effect.
type restoreOptions struct {
	replace, absolute, idle, freq bool
}

func (a *Args) restoreOptions() (o restoreOptions) {
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("REPLACE"):
			o.replace = true
		case a.Word("ABSTTL"):
			o.absolute = true
		case a.Left() > 1 && !o.freq && a.Word("IDLETIME"):
			if o.idle = true; a.Int() < 0 {
				a.Fail(errIdleTime)
			}
		case a.Left() > 1 && !o.idle && a.Word("FREQ"):
			o.freq = true
			if n := a.Int(); n < 0 || n > math.MaxUint8 {
				a.Fail(errFreq)
			}
		default:
			a.Fail(ErrSyntax)
		}
	}
	return o
}

// restore judges the time only when the name is free, as Redis does.
func restore(tx *Tx, a *Args) reply.Value {
	key, ttl, payload := a.Bytes(), a.Bytes(), a.Bytes()
	o := a.restoreOptions()
	if err, ok := a.Done(); !ok {
		return err
	}
	if !o.replace && tx.DB.Find(tx.Env, key) != nil {
		return errBusyKey
	}
	at, bad := tx.restoreDeadline(ttl, o.absolute)
	if bad != nil {
		return *bad
	}
	v, bad := tx.readPayload(payload)
	if bad != nil {
		return *bad
	}
	if at.Millis() == math.MaxInt64 {
		return errTTL
	}
	if at.Passed(tx.Time) {
		tx.remove(key)
		return reply.OK()
	}
	tx.DB.Remove(tx.Env, key)
	tx.putValue(key, v, at)
	tx.Event(GenericEvent, "restore", key)
	return reply.OK()
}

// restoreDeadline is the deadline that a time to live means, 0 for none; the last there is
// for one that lies beyond it, which is refused once the payload has been judged.
func (tx *Tx) restoreDeadline(ttl []byte, absolute bool) (at keyspace.Deadline, bad *reply.Value) {
	n, ok := ParseInt(ttl)
	switch {
	case !ok:
		return 0, ptr(ErrNotInteger)
	case n < 0:
		return 0, ptr(errTTL)
	case n == 0:
		return 0, nil
	case absolute:
		return keyspace.ByWall(tx.Env, n), nil
	case n > math.MaxInt64-tx.Now:
		return math.MaxInt64, nil
	}
	return keyspace.ByTime(n + tx.Now), nil
}

// maxRestored bounds what a payload may become where records have no limit, in bytes.
const maxRestored = 1 << 30

// restoreBounds returns the bounds for reading a payload with allowed steps of work left.
func (l *Limits) restoreBounds(allowed int64) rdb.Bounds {
	b := rdb.Bounds{Room: l.MaxRecord, Work: max(1, allowed), ReadRefused: true}
	if b.Room <= 0 {
		b.Room = maxRestored
	}
	return b
}

// precheckRestore checks a payload without the state; see Command.Precheck.
func precheckRestore(l *Limits, argv [][]byte) (at int, word []byte) {
	const payload = 3
	// No field of a hash is past its deadline: that only leaves something out.
	if _, _, err := rdb.Restore(argv[payload], 0, l.restoreBounds(l.Work())); err != nil {
		return payload, rdb.RefusedPayload(err)
	}
	return 0, nil
}

// readPayload reads a payload within the limits of records and of the request's work.
func (tx *Tx) readPayload(payload []byte) (v rdb.Value, bad *reply.Value) {
	bounds := tx.Limits.restoreBounds(tx.allowed())
	v, worked, err := rdb.Restore(payload, tx.Now, bounds)
	if left := max(0, tx.allowed()); errors.Is(err, rdb.ErrWork) {
		tx.work.used += left // also by a stand-in
	} else {
		tx.work.used += min(worked, left)
	}
	switch {
	case errors.Is(err, rdb.ErrPayload):
		return v, ptr(errPayload)
	case errors.Is(err, rdb.ErrRoom):
		return v, ptr(reply.Error("ERR max single record size exceeded. Limit: " + strconv.FormatInt(bounds.Room, 10) + " bytes, Actual: more. Setting: max-record-size"))
	case errors.Is(err, rdb.ErrWork):
		return v, ptr(reply.Error("ERR max request work exceeded by 'restore'. Limit: " + strconv.FormatInt(tx.Limits.Work(), 10) + " steps, Actual: more. Setting: max-request-work"))
	case err != nil:
		return v, ptr(errFormat)
	}
	size := int64(len(v.Text))
	if v.Data != nil {
		size = v.Data.Size()
	}
	if tx.Limits.MaxRecord > 0 {
		bad = tx.Limits.record(size)
	}
	return v, bad
}

// putValue stores a value under a key that is free, unless it is a hash whose fields are
// all past their deadlines.
func (tx *Tx) putValue(key []byte, v rdb.Value, at keyspace.Deadline) {
	hash, isHash := v.Data.(*keyspace.Fields)
	switch {
	case v.Data == nil:
		tx.DB.SetText(tx.Env, key, v.Text, at)
	case isHash && hash.Len(tx.Time) == 0:
	default:
		tx.DB.PutContainer(tx.Env, key, v.Data, at)
	}
}
