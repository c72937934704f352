package resp

import (
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// ownCommand runs a command about the connection itself.
type ownCommand func(c *conn, argv [][]byte)

// ownCommands returns the handlers of the commands about the connection, which the port runs itself.
func ownCommands(t *command.Table) map[*command.Command]ownCommand {
	all := map[*command.Command]ownCommand{}
	for name, run := range map[string]ownCommand{
		"auth": (*conn).auth, "hello": (*conn).hello, "quit": (*conn).quit, "reset": (*conn).reset, "select": (*conn).selectDB,
		"ping": (*conn).ping, "echo": (*conn).echo,
		"multi": (*conn).multi, "exec": (*conn).exec, "discard": (*conn).discard, "watch": (*conn).watch, "unwatch": (*conn).unwatch,
		"subscribe": (*conn).subscribe, "psubscribe": (*conn).psubscribe, "ssubscribe": (*conn).ssubscribe,
		"unsubscribe": (*conn).unsubscribe, "punsubscribe": (*conn).punsubscribe, "sunsubscribe": (*conn).sunsubscribe,
		"monitor":   (*conn).monitor,
		"client id": (*conn).clientID, "client getname": (*conn).clientGetName, "client setname": (*conn).clientSetName,
		"client setinfo": (*conn).clientSetInfo, "client info": (*conn).clientInfo, "client list": (*conn).clientList,
		"client kill": (*conn).clientKill, "client no-evict": (*conn).clientNoEvict, "client no-touch": (*conn).clientNoTouch,
		"client reply": (*conn).clientReply, "client pause": (*conn).clientPause, "client unpause": (*conn).clientUnpause,
		"client unblock": (*conn).clientUnblock, "client help": (*conn).clientHelp,
		"script debug": (*conn).scriptDebug, "script kill": (*conn).scriptKill, "function kill": (*conn).functionKill,
		"client tracking": (*conn).clientTracking, "client caching": (*conn).clientCaching,
		"client getredir": (*conn).clientGetRedir, "client trackinginfo": (*conn).clientTrackingInfo,
	} {
		if row := t.Row(name); row != nil {
			all[row] = run
		} else {
			panic("resp: no row named " + name)
		}
	}
	return all
}

// alwaysAllowed are the commands that need no user.
var alwaysAllowed = map[string]bool{"auth": true, "hello": true, "quit": true, "reset": true}

// dispatch runs one command, or adds it to the pipeline.
func (c *conn) dispatch(argv [][]byte) {
	c.mute = c.silent || c.skipNext
	c.skipNext = false
	row := c.s.table.Find(argv)
	if row == nil || !subscribes[row.Name] {
		c.awaitSubscribed()
	}
	switch {
	case isHTTP(argv[0]):
		c.rejectHTTP()
	case !c.as.Known() && (row == nil || !alwaysAllowed[row.Name]):
		c.runPipeline()
		c.emit(noAuth(row))
	case row == nil || !row.Takes(len(argv)):
		c.runPipeline()
		c.refuse(argv)
	case c.subscribed() && !c.proto3 && !whileSubscribed[row.Name]:
		c.runPipeline()
		c.emit(reply.Error("ERR Can't execute '" + strings.ReplaceAll(row.Name, " ", "|") +
			"': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"))
	default:
		c.awaitPause(row, argv)
		if c.tx.open && !whileQueueing[row.Name] {
			c.queue(row, argv)
			return
		}
		c.runCommand(row, argv)
	}
}

// noAuth returns the answer to a command of a connection without a user.
func noAuth(row *command.Command) reply.Value {
	if row != nil && row.Name == "exec" {
		return reply.Error("EXECABORT Transaction discarded because of: " + textNoAuth)
	}
	return errNoAuth
}

// runCommand runs a command outside a transaction.
func (c *conn) runCommand(row *command.Command, argv [][]byte) {
	own := c.s.own[row]
	if !c.s.simple(row) {
		c.quietRounds = 0
	}
	switch {
	case own != nil:
		c.runPipeline()
		c.noteCommand(row)
		if !alwaysAllowed[row.Name] {
			if _, refusal := c.check(argv); refusal != nil {
				c.emit(*refusal)
				return
			}
		}
		if row.Name != "multi" && row.Name != "exec" && !strings.HasPrefix(row.Name, "client ") {
			c.caching = asUsual
		}
		began := time.Now()
		c.lastError = reply.OK()
		own(c, argv)
		c.countOwn(argv, began)
		c.monitorOwn(row, argv)
	case row.Flags&command.Blocking != 0 && c.block(row, argv):
	default:
		c.enqueue(row, argv)
	}
}

// isHTTP reports whether a command is the first word of a line of HTTP. A browser can be
// made to send a request to any port, with commands in its body: Redis closes such a
// connection too.
func isHTTP(word []byte) bool {
	return command.EqualFold(word, "POST") || command.EqualFold(word, "HOST:")
}

// rejectHTTP closes the connection after the replies to earlier commands.
func (c *conn) rejectHTTP() {
	c.runPipeline()
	c.ending = true
	now := time.Now().Unix()
	if last := c.s.httpLogged.Load(); now-last >= 60 && c.s.httpLogged.CompareAndSwap(last, now) {
		c.s.log.Warn("resp: a client sent HTTP and was disconnected; logged at most once a minute", "client", c.info.addr)
	}
}

// noteCommand records the command and its time for CLIENT LIST.
func (c *conn) noteCommand(row *command.Command) {
	c.info.last.Store(row)
	c.info.active.Store(time.Now().UnixMilli())
}

// refuse answers a command that is unknown or has the wrong number of words, and makes an open
// transaction fail.
func (c *conn) refuse(argv [][]byte) {
	var refusal *reply.Value
	c.s.engine.Local(func(v *fsm.View) { _, refusal = v.Check(c.as, command.RESP, argv) })
	if refusal == nil {
		internal := reply.Error("ERR internal error")
		refusal = &internal
	}
	if len(argv) > 0 && command.EqualFold(argv[0], "EXEC") { // with words behind it, also outside a transaction
		c.clearTransaction()
		c.emit(reply.Error("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(refusal.Text(), "ERR ")))
		return
	}
	c.countRefused(argv, *refusal)
	c.tx.failed = c.tx.failed || c.tx.open
	c.emit(*refusal)
}

// monitorOwn sends a command about the connection to the monitors, except administrative commands,
// which Redis does not show either.
func (c *conn) monitorOwn(row *command.Command, argv [][]byte) {
	if !c.monitored() || row.Flags&command.Admin != 0 || !c.as.Known() {
		return
	}
	c.s.hub.Executed(c.database(), c.info.addr, argv)
}
