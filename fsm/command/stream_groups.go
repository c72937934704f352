package command

import (
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errGroupNeedsKey = reply.Error("ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.")
	errGroupExists   = reply.Error("BUSYGROUP Consumer Group name already exists")
	errEntriesRead   = reply.Error("ERR value for ENTRIESREAD must be positive or -1")
)

// errNoGroupOf is the error of subcommands that need the group.
func errNoGroupOf(group, key []byte) reply.Value {
	return reply.Error("NOGROUP No such consumer group '" + shown(string(group)) + "' for key name '" + shown(string(key)) + "'")
}

// errNoGroup is the error of the other commands that need the key and its group.
func errNoGroup(key, group []byte, where string) reply.Value {
	return reply.Error("NOGROUP No such key '" + shown(string(key)) + "' or consumer group '" + shown(string(group)) + "'" + where)
}

// consumerMade is the event of a new consumer, whichever command made it.
const consumerMade = "xgroup-createconsumer"

// onlyIf is the event if something has happened.
func onlyIf(happened bool, event string) []string {
	if !happened {
		return nil
	}
	return []string{event}
}

// badSubcommand is the error for the words of a subcommand that exists.
func (a *Args) badSubcommand() reply.Value {
	return reply.Error("ERR unknown subcommand or wrong number of arguments for '" + shownStart(a.argv[1]) + "'. Try " +
		ascii.Upper(shown(string(a.argv[0]))) + " HELP.")
}

// lookGroup finds a stream and a group of it for a subcommand of XGROUP that needs both.
func lookGroup(tx *Tx, key, group []byte) (e edit[*keyspace.StreamLog], g *keyspace.StreamGroup, refusal *reply.Value) {
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch {
	case !ok:
		return e, nil, &ErrWrongType
	case e.object == nil:
		return e, nil, &errGroupNeedsKey
	}
	if g = e.data.Group(keyspace.Alias(group)); g == nil {
		return e, nil, ptr(errNoGroupOf(group, key))
	}
	return e, g, nil
}

// groupOptions are those of XGROUP CREATE and SETID.
type groupOptions struct {
	make bool
	read int64
}

func readGroupOptions(a *Args, mayMake bool) groupOptions {
	o := groupOptions{read: keyspace.UnknownRead}
	for a.Left() > 0 && !a.bad {
		switch {
		case mayMake && a.Word("MKSTREAM"):
			o.make = true
		case a.Left() > 1 && a.Word("ENTRIESREAD"):
			if o.read = a.Int(); o.read < keyspace.UnknownRead {
				a.Fail(errEntriesRead)
			}
		default:
			a.Fail(a.badSubcommand())
		}
	}
	return o
}

// maxCreateWords is the largest number of words that Redis accepts with XGROUP CREATE,
// repeated options included.
const maxCreateWords = 8

func xGroupCreate(tx *Tx, a *Args) reply.Value {
	key, name, word := a.Bytes(), a.Bytes(), a.Bytes()
	o := readGroupOptions(a, true)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil && !o.make:
		return errGroupNeedsKey
	case len(a.argv) > maxCreateWords:
		return a.badSubcommand()
	}
	last := e.data.Last()
	if string(word) != "$" {
		if last, _, ok = parseStreamID(word, 0, false); !ok {
			return errStreamID
		}
	}
	if e.data.Group(keyspace.Alias(name)) != nil {
		return errGroupExists
	}
	e.write().AddGroup(keyspace.Alias(name), last, o.read)
	e.end(1, StreamEvent, "xgroup-create")
	return reply.OK()
}

func xGroupSetID(tx *Tx, a *Args) reply.Value {
	key, name, word := a.Bytes(), a.Bytes(), a.Bytes()
	repeated := a.Left() > 2
	o := readGroupOptions(a, false)
	if err, ok := a.Done(); !ok {
		return err
	}
	e, _, refusal := lookGroup(tx, key, name)
	switch {
	case refusal != nil:
		return *refusal
	case repeated:
		return a.badSubcommand()
	}
	last, ok := e.data.Last(), true
	if string(word) != "$" {
		if last, ok = looseID(word, 0); !ok {
			return errStreamID
		}
	}
	g := e.write().Own(keyspace.Alias(name))
	g.Last, g.Read = last, o.read
	e.end(1, StreamEvent, "xgroup-setid")
	return reply.OK()
}

func xGroupDestroy(tx *Tx, a *Args) reply.Value {
	key, name := a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewStreamLog)
	switch {
	case !ok:
		return ErrWrongType
	case e.object == nil:
		return errGroupNeedsKey
	case e.data.Group(keyspace.Alias(name)) == nil:
		return reply.Int(0)
	}
	e.write().DropGroup(keyspace.Alias(name))
	e.end(1, StreamEvent, "xgroup-destroy")
	return reply.Int(1)
}

func xGroupCreateConsumer(tx *Tx, a *Args) reply.Value {
	key, name, consumer := a.Bytes(), a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, g, refusal := lookGroup(tx, key, name)
	switch {
	case refusal != nil:
		return *refusal
	case g.Consumer(keyspace.Alias(consumer)) != nil:
		return reply.Int(0)
	}
	e.write().Own(keyspace.Alias(name)).OwnConsumer(keyspace.Alias(consumer), tx.Now)
	e.end(1, StreamEvent, consumerMade)
	return reply.Int(1)
}

func xGroupDelConsumer(tx *Tx, a *Args) reply.Value {
	key, name, consumer := a.Bytes(), a.Bytes(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	e, g, refusal := lookGroup(tx, key, name)
	switch {
	case refusal != nil:
		return *refusal
	case g.Consumer(keyspace.Alias(consumer)) == nil:
		return reply.Int(0)
	}
	n, _ := e.write().Own(keyspace.Alias(name)).DropConsumer(keyspace.Alias(consumer))
	e.end(1, StreamEvent, "xgroup-delconsumer")
	return reply.Int(int64(n))
}

// helpLines is the reply of a HELP subcommand.
func helpLines(lines ...string) reply.Value {
	values := make([]reply.Value, len(lines))
	for i, l := range lines {
		values[i] = reply.Status(l)
	}
	return reply.Array(values...)
}

func xGroupHelp(*Tx, *Args) reply.Value {
	return helpLines(
		"XGROUP subcommands:",
		"CREATE key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]",
		"    Makes a group that reads behind an ID; MKSTREAM makes the stream too.",
		"CREATECONSUMER key group consumer", "    Makes a consumer.",
		"DELCONSUMER key group consumer", "    Removes a consumer and what is pending with it.",
		"DESTROY key group", "    Removes a group.",
		"SETID key group <id | $> [ENTRIESREAD entries-read]", "    Sets the last ID delivered to a group.",
		"HELP", "    These lines.",
	)
}
