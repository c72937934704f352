package resp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// trackingOptions are the options of CLIENT TRACKING.
type trackingOptions struct {
	bcast, optIn, optOut, noLoop bool
	redirect                     uint64 // 0 = the connection itself
}

// caching selects whether the reads of the next command are tracked (CLIENT CACHING).
type caching uint8

const (
	asUsual caching = iota
	cachingYes
	cachingNo
)

// invalidateChannel carries invalidations to RESP2 connections.
const invalidateChannel = "__redis__:invalidate"

// deliver sends pending invalidations, unless the connection has replies to send first. The
// tracker's lock is held.
func (tr *tracker) deliver(t *tracked) {
	if t.busy || t.off || len(t.pending) == 0 {
		return
	}
	changes, ok := t.permitted(t.pending)
	t.pending = t.pending[:0]
	switch {
	case !ok: // nothing may be sent, and stale copies must not stay
		t.c.kill()
		return
	case len(changes) == 0:
		return
	}
	to := t.c
	if id := t.options.redirect; id != 0 {
		if to = tr.s.clients.find(t.db, id); to == nil {
			t.reportBrokenRedirect()
			return
		}
	}
	var keys []string
	for _, p := range changes {
		switch {
		case p.all:
			to.sendInvalidation(reply.Nil())
		case t.options.bcast:
			keys = append(keys, p.key)
		default: // one message a key, as by Redis
			to.sendInvalidation(reply.Array(reply.Bulk(p.key)))
		}
	}
	t.broadcast(to, keys)
}

// broadcast sends the keys of BCAST: a message for each prefix with its keys, all in their
// order and once.
func (t *tracked) broadcast(to *conn, keys []string) {
	slices.Sort(keys)
	keys = slices.Compact(keys)
	prefixes := slices.Sorted(slices.Values(t.prefixes))
	if len(prefixes) == 0 {
		prefixes = []string{""}
	}
	for _, p := range prefixes {
		var values []reply.Value
		for _, key := range keys {
			if strings.HasPrefix(key, p) {
				values = append(values, reply.Bulk(key))
			}
		}
		if len(values) > 0 {
			to.sendInvalidation(reply.Array(values...))
		}
	}
}

// reportBrokenRedirect reports once that the connection to redirect to is gone.
func (t *tracked) reportBrokenRedirect() {
	if !t.broken && t.c.info.get().proto == 3 {
		t.c.push(reply.Push(reply.Bulk("tracking-redir-broken"), reply.Int(int64(t.options.redirect))))
	}
	t.broken = true
	t.c.info.set(func(attrs *attributes) { attrs.broken = true })
}

// sendInvalidation sends an invalidation of keys in the connection's protocol; null invalidates all.
// Over RESP2 it reaches only a connection that subscribes.
func (c *conn) sendInvalidation(keys reply.Value) {
	switch t := c.info.get(); {
	case t.proto == 3:
		c.push(reply.Push(reply.Bulk("invalidate"), keys))
	case t.subs+t.psubs+t.ssubs > 0:
		if keys.IsNil() {
			keys = reply.NilArray()
		}
		c.push(reply.Push(reply.Bulk("message"), reply.Bulk(invalidateChannel), keys))
	}
}

// push sends a message between replies. A client that reads too slowly is disconnected
// rather than left with stale copies.
func (c *conn) push(v reply.Value) {
	var b []byte
	if c.info.get().proto == 3 {
		b = reply.AppendRESP3(nil, v)
	} else {
		b = reply.AppendRESP2(nil, v)
	}
	if c.out.send(b) != nil || c.out.waiting() > c.s.limits.OutputBytes {
		c.kill()
	}
}

// trackReads is called before a command runs: the keys it reads are tracked if the
// connection has tracking on and CLIENT CACHING does not exclude the command.
func (c *conn) trackReads(row *command.Command, argv [][]byte) { c.trackRow(row, argv, 0) }

// trackRow is trackReads for a row of a request.
func (c *conn) trackRow(row *command.Command, argv [][]byte, at int) {
	t := c.tracked
	if t == nil {
		return
	}
	said := c.caching
	if !c.tx.open {
		c.caching = asUsual
	}
	skipped := t.options.bcast || (t.options.optIn && said != cachingYes) || (t.options.optOut && said == cachingNo)
	if skipped || (row.Flags&command.ReadOnly == 0 && row.Group() != "scripting") {
		c.s.tracker.deferDelivery(t) // its own changes are reported after the reply
		return
	}
	var keys []string
	for _, i := range row.Keys.Positions(argv) {
		keys = append(keys, string(argv[i]))
	}
	if row.Group() == "scripting" && !row.OnlyReads(argv) {
		c.s.tracker.trackScript(t, at, keys)
		return
	}
	c.s.tracker.trackKeys(t, keys)
}

// scriptsAnswered passes the outcome of a request to the tracker, which tracks the keys of its scripts.
func (c *conn) scriptsAnswered(results *fsm.Results, err error) {
	if c.tracked == nil {
		return
	}
	by := origin{results.Index, results.Place}
	if results.Discarded {
		by = origin{}
	}
	c.s.tracker.answered(c.tracked, by, err != nil)
}

// trackTransaction is trackReads for the rows of a transaction. Keys that are read behind
// the last write of them stay tracked.
func (c *conn) trackTransaction(rows []queued) {
	said, stay, at := c.caching, map[string]bool{}, 0
	for _, q := range rows {
		c.caching = said
		c.trackRow(q.row, q.argv, at)
		if c.s.own[q.row] == nil { // the others are no rows of the request
			at++
		}
		for _, i := range q.row.Keys.Positions(q.argv) {
			if stay[string(q.argv[i])] = q.row.Flags&command.ReadOnly != 0; q.row.Name == "flushall" || q.row.Name == "flushdb" {
				clear(stay)
			}
		}
	}
	if c.caching = asUsual; c.tracked != nil {
		c.s.tracker.stayTracked(c.tracked, stay)
	}
}

// reportsOwnWrites reports whether the connection gets an invalidation of keys that it writes right
// behind the reply.
func (c *conn) reportsOwnWrites() bool { return c.tracked != nil && !c.tracked.options.bcast }

// untrack turns tracking off and forgets the keys.
func (c *conn) untrack() {
	if c.paused != nil {
		c.s.tracker.end(c.paused)
		c.paused = nil
	}
	if c.tracked != nil {
		c.s.tracker.end(c.tracked)
		c.noTracking()
	}
}

// noTracking makes the connection one that does not track.
func (c *conn) noTracking() {
	c.tracked, c.caching = nil, asUsual
	c.info.set(func(t *attributes) { t.tracks, t.bcast, t.broken, t.redirect = false, false, false, -1 })
}

// trackingRequest is CLIENT TRACKING as it was sent.
type trackingRequest struct {
	trackingOptions
	on       bool
	prefixes []string
}

var errSwitchOpt = reply.Error("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.")

func (c *conn) readTracking(argv [][]byte) (q trackingRequest, bad *reply.Value) {
	refuse := func(text string) (trackingRequest, *reply.Value) { v := reply.Error(text); return q, &v }
	for at := 3; at < len(argv); at++ {
		switch more := at+1 < len(argv); {
		case command.EqualFold(argv[at], "REDIRECT") && more:
			at++
			id, ok := command.ParseInt(argv[at])
			switch {
			case q.redirect != 0:
				return refuse("ERR A client can only redirect to a single other client")
			case !ok:
				return refuse("ERR value is not an integer or out of range")
			}
			if other := c.s.clients.find(c.database(), uint64(id)); id < 1 || other == nil {
				return refuse("ERR The client ID you want redirect to does not exist")
			}
			q.redirect = uint64(id)
		case command.EqualFold(argv[at], "BCAST"):
			q.bcast = true
		case command.EqualFold(argv[at], "OPTIN"):
			q.optIn = true
		case command.EqualFold(argv[at], "OPTOUT"):
			q.optOut = true
		case command.EqualFold(argv[at], "NOLOOP"):
			q.noLoop = true
		case command.EqualFold(argv[at], "PREFIX") && more:
			at++
			q.prefixes = append(q.prefixes, string(argv[at]))
		default:
			return refuse("ERR syntax error")
		}
	}
	on, ok := onOff(argv[2])
	if q.on = on; !ok {
		return refuse("ERR syntax error")
	}
	return q, c.checkTracking(&q)
}

// checkTracking returns the error reply for options that contradict each other or the connection's present mode, or nil.
func (c *conn) checkTracking(q *trackingRequest) *reply.Value {
	refuse := func(text string) *reply.Value { v := reply.Error(text); return &v }
	if !q.on {
		return nil
	}
	was := c.tracked
	switch {
	case !q.bcast && len(q.prefixes) > 0:
		return refuse("ERR PREFIX option requires BCAST mode to be enabled")
	case was != nil && was.options.bcast != q.bcast:
		return refuse("ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.")
	case q.bcast && (q.optIn || q.optOut):
		return refuse("ERR OPTIN and OPTOUT are not compatible with BCAST")
	case q.optIn && q.optOut:
		return refuse("ERR You can't specify both OPTIN mode and OPTOUT mode")
	case was != nil && (q.optIn && was.options.optOut || q.optOut && was.options.optIn):
		return &errSwitchOpt
	}
	var before []string
	if was != nil {
		before = was.prefixes
	}
	if len(before)+len(q.prefixes) > maxPrefixes {
		return refuse("ERR too many prefixes: a client has at most " + strconv.Itoa(maxPrefixes))
	}
	for i, p := range q.prefixes {
		if other, meets := overlap(p, before); meets {
			return refuse("ERR Prefix '" + oneLine([]byte(p)) + "' overlaps with an existing prefix '" + oneLine([]byte(other)) + "'. Prefixes for a single client must not overlap.")
		}
		if other, meets := overlap(p, q.prefixes[i+1:]); meets {
			return refuse("ERR Prefix '" + oneLine([]byte(p)) + "' overlaps with another provided prefix '" + oneLine([]byte(other)) + "'. Prefixes for a single client must not overlap.")
		}
	}
	return nil
}

// maxPrefixes bounds the prefixes of a connection: each is compared with all others, and with every key that changes.
const maxPrefixes = 1000

// overlap returns the first of others that is a prefix of p or has p as its prefix.
func overlap(p string, others []string) (other string, meets bool) {
	for _, o := range others {
		if strings.HasPrefix(o, p) || strings.HasPrefix(p, o) {
			return o, true
		}
	}
	return "", false
}

func (c *conn) clientTracking(argv [][]byte) {
	q, bad := c.readTracking(argv)
	if bad != nil {
		c.emit(*bad)
		return
	}
	if !q.on {
		if c.tracked != nil {
			c.paused = c.tracked
			c.s.tracker.pause(c.paused)
			c.noTracking()
		}
		c.emit(reply.OK())
		return
	}
	switch {
	case c.tracked != nil:
		c.s.tracker.change(c.tracked, q.trackingOptions, q.prefixes)
	case c.paused != nil:
		c.tracked, c.paused = c.paused, nil
		c.s.tracker.resume(c.tracked, q.trackingOptions, q.prefixes)
	default:
		c.tracked = &tracked{c: c, db: c.database(), options: q.trackingOptions, prefixes: q.prefixes}
		c.s.tracker.begin(c.tracked)
	}
	c.info.set(func(attrs *attributes) {
		attrs.tracks, attrs.bcast, attrs.broken, attrs.redirect = true, q.bcast, false, int64(q.redirect)
	})
	c.emit(reply.OK())
}

func (c *conn) clientCaching(argv [][]byte) {
	yes, no := command.EqualFold(argv[2], "YES"), command.EqualFold(argv[2], "NO")
	t := c.tracked
	switch {
	case t == nil || !t.options.optIn && !t.options.optOut:
		c.emit(reply.Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"))
	case yes && !t.options.optIn:
		c.emit(reply.Error("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."))
	case no && !t.options.optOut:
		c.emit(reply.Error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."))
	case yes:
		c.caching = cachingYes
		c.emit(reply.OK())
	case no:
		c.caching = cachingNo
		c.emit(reply.OK())
	default:
		c.emit(errSyntax)
	}
}

// redirection returns the id of the connection that receives this one's invalidations: 0 for itself, -1 without tracking.
func (c *conn) redirection() reply.Value { return reply.Int(c.info.get().redirect) }

func (c *conn) clientGetRedir([][]byte) { c.emit(c.redirection()) }

func (c *conn) clientTrackingInfo([][]byte) {
	t := c.tracked
	var flags, prefixes []reply.Value
	flag := func(is bool, name string) {
		if is {
			flags = append(flags, reply.Bulk(name))
		}
	}
	flag(t == nil, "off")
	flag(t != nil, "on")
	if t != nil {
		flag(t.options.bcast, "bcast")
		flag(t.options.optIn, "optin")
		flag(c.caching == cachingYes, "caching-yes")
		flag(t.options.optOut, "optout")
		flag(c.caching == cachingNo, "caching-no")
		flag(t.options.noLoop, "noloop")
		flag(c.info.get().broken, "broken_redirect")
		for _, p := range slices.Sorted(slices.Values(t.prefixes)) {
			prefixes = append(prefixes, reply.Bulk(p))
		}
	}
	c.emit(reply.Map(reply.Bulk("flags"), reply.Set(flags...), reply.Bulk("redirect"), c.redirection(), reply.Bulk("prefixes"), reply.Array(prefixes...)))
}
