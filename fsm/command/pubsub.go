package command

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// pubsub is the Pub/Sub family. Messages travel in the log, so that all subscribers on
// all nodes see one order, and counts are replicated, so that a publisher learns how
// many receive. Subscribing belongs to a connection: the rows for it stand here to be
// known and judged, and the owner of the connection does the rest.
func pubsub() []Command {
	own := NoHTTP | NoScript // of a connection
	return []Command{
		{Name: "psubscribe", Arity: -2, Flags: own, Channels: patternsOnly, Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(N) in patterns",
			Syntax: "PSUBSCRIBE pattern [pattern ...]", Summary: "Subscribes the connection to all channels that match a pattern.",
			Info: "loading stale pubsub"}, Run: ofConnection},
		{Name: "publish", Arity: 3, Flags: Write | Fast, Channels: firstChannel, Cost: costConstant, Work: publishWork, Doc: Doc{Version: "2.0.0", Complexity: "O(P) in patterns of the database, and O(N) in receivers on every node",
			Syntax: "PUBLISH channel message", Summary: "Sends a message to the subscribers of a channel on all nodes. Returns how many there are at its place in the log.",
			Info: "loading stale pubsub"}, Run: publish},
		{Name: "pubsub channels", Arity: -2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "2.8.0", Complexity: "O(N) in channels",
			Syntax: "PUBSUB CHANNELS [pattern]", Summary: "Lists the channels that have a subscriber by name on any node, in their order.",
			Info: "loading stale pubsub"}, Run: pubsubChannels},
		{Name: "pubsub help", Arity: 2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "6.2.0", Complexity: "O(1)",
			Syntax: "PUBSUB HELP", Summary: "Lists the subcommands.",
			Info: whileLoading}, Access: Access{NotCategories: acl.PubSub}, Run: pubsubHelp},
		{Name: "pubsub numpat", Arity: 2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "2.8.0", Complexity: "O(N) in patterns",
			Syntax: "PUBSUB NUMPAT", Summary: "Returns the number of different patterns that have a subscriber on any node.",
			Info: "loading stale pubsub"}, Run: pubsubNumPat},
		{Name: "pubsub numsub", Arity: -2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "2.8.0", Complexity: "O(N) in channels asked for",
			Syntax: "PUBSUB NUMSUB [channel ...]", Summary: "Returns each channel with the number of its subscribers on all nodes, without those of patterns.",
			Info: "loading stale pubsub"}, Run: pubsubNumSub},
		{Name: "pubsub shardchannels", Arity: -2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in shard channels",
			Syntax: "PUBSUB SHARDCHANNELS [pattern]", Summary: "Lists the shard channels that have a subscriber on any node, in their order.",
			Info: "loading stale pubsub"}, Run: pubsubShardChannels},
		{Name: "pubsub shardnumsub", Arity: -2, Flags: ReadOnlyUser, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in shard channels asked for",
			Syntax: "PUBSUB SHARDNUMSUB [shardchannel ...]", Summary: "Returns each shard channel with the number of its subscribers on all nodes.",
			Info: "loading stale pubsub"}, Run: pubsubShardNumSub},
		{Name: "punsubscribe", Arity: -1, Flags: own, Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(N) in patterns",
			Syntax: "PUNSUBSCRIBE [pattern ...]", Summary: "Ends pattern subscriptions of the connection, all of them without arguments.",
			Info: "loading stale pubsub"}, Run: ofConnection},
		{Name: "spublish", Arity: 3, Flags: Write | Fast | NoHTTP, Channels: firstChannel, Keys: firstKey.with(notKey).but(keyRW), Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in receivers on every node",
			Syntax: "SPUBLISH shardchannel message", Summary: "Sends a message to the subscribers of a shard channel on all nodes. There is one shard.",
			Info: "loading stale pubsub"}, Run: shardPublish},
		{Name: "ssubscribe", Arity: -2, Flags: own, Channels: allChannels, Keys: allKeys.with(notKey), Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in shard channels",
			Syntax: "SSUBSCRIBE shardchannel [shardchannel ...]", Summary: "Subscribes the connection to shard channels.",
			Info: "loading stale pubsub"}, Run: ofConnection},
		{Name: "subscribe", Arity: -2, Flags: own, Channels: allChannels, Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(N) in channels",
			Syntax: "SUBSCRIBE channel [channel ...]", Summary: "Subscribes the connection to channels.",
			Info: "loading stale pubsub"}, Run: ofConnection},
		{Name: "sunsubscribe", Arity: -1, Flags: own, Keys: keyPlaces{First: 1, Last: -1, Step: 1, Find: allWords}.with(notKey), Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(N) in shard channels",
			Syntax: "SUNSUBSCRIBE [shardchannel ...]", Summary: "Ends subscriptions of the connection to shard channels, all of them without arguments.",
			Info: "loading stale pubsub"}, Run: ofConnection},
		{Name: "unsubscribe", Arity: -1, Flags: own, Cost: costConstant, Doc: Doc{Version: "2.0.0", Complexity: "O(N) in channels",
			Syntax: "UNSUBSCRIBE [channel ...]", Summary: "Ends subscriptions of the connection, all of them without arguments.",
			Info: "loading stale pubsub"}, Run: ofConnection},
	}
}

// MayPublish reports whether a call may send to subscribers and tell how many there are, by its
// first word alone.
func MayPublish(argv [][]byte) bool {
	if len(argv) == 0 || len(argv[0]) == 0 {
		return false
	}
	switch argv[0][0] | 0x20 {
	case 'p':
		return EqualFold(argv[0], "PUBLISH")
	case 's':
		return EqualFold(argv[0], "SPUBLISH")
	case 'e':
		return EqualFold(argv[0], "EVAL") || EqualFold(argv[0], "EVALSHA")
	case 'f':
		return EqualFold(argv[0], "FCALL")
	}
	return false
}

// allWords are the places of all arguments, also of none.
func allWords(argv [][]byte) (at []int) {
	for i := 1; i < len(argv); i++ {
		at = append(at, i)
	}
	return at
}

// ofConnection answers where there is no connection to act on.
func ofConnection(_ *Tx, a *Args) reply.Value {
	a.Rest()
	return reply.Error("ERR this command belongs to a connection of its own")
}

func publish(tx *Tx, a *Args) reply.Value { return tx.send(a, channel.Plain, env.Message) }

// publishWork is the work of matching the channel with all patterns.
func publishWork(tx *Tx, argv [][]byte) int64 {
	if len(argv) < 2 {
		return 0
	}
	return tx.matchWork(1, len(argv[1]))
}

func shardPublish(tx *Tx, a *Args) reply.Value { return tx.send(a, channel.Shard, env.ShardMessage) }

// send leaves a message for the subscribers and replies with their number. Without any
// it leaves none.
func (tx *Tx) send(a *Args, kind channel.Kind, note env.NotificationKind) reply.Value {
	name, message := a.String(), a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	n := tx.Channels.Receivers(kind, name)
	if n > 0 {
		tx.Notifications = append(tx.Notifications, env.Notification{Kind: note, DB: tx.Channels.DB(), Channel: name, Message: string(message)})
	}
	return reply.Int(n)
}

func pubsubChannels(tx *Tx, a *Args) reply.Value { return tx.channelNames(a, channel.Plain) }

func pubsubShardChannels(tx *Tx, a *Args) reply.Value { return tx.channelNames(a, channel.Shard) }

func (tx *Tx) channelNames(a *Args, kind channel.Kind) reply.Value {
	pattern := "*"
	if a.Left() > 0 {
		pattern = a.Pattern()
	}
	if a.Left() > 0 {
		return a.badSubcommand()
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return bulks(tx.Channels.Names(kind, func(name string) bool { return tx.matches(pattern, name) }))
}

func pubsubNumSub(tx *Tx, a *Args) reply.Value { return tx.channelCounts(a, channel.Plain) }

func pubsubShardNumSub(tx *Tx, a *Args) reply.Value { return tx.channelCounts(a, channel.Shard) }

func (tx *Tx) channelCounts(a *Args, kind channel.Kind) reply.Value {
	var values []reply.Value
	for _, name := range a.Rest() {
		values = append(values, reply.Bulk(string(name)), reply.Int(tx.Channels.Count(kind, string(name))))
	}
	return reply.Array(values...)
}

func pubsubNumPat(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	return reply.Int(tx.Channels.Patterns())
}

func pubsubHelp(*Tx, *Args) reply.Value {
	lines := []string{
		"PUBSUB subcommands. What they count is on all nodes:",
		"CHANNELS [pattern]", "    The channels with subscribers by name.",
		"NUMPAT", "    How many patterns have subscribers.",
		"NUMSUB [channel ...]", "    How many subscribers these channels have by name.",
		"SHARDCHANNELS [pattern]", "    The shard channels with subscribers.",
		"SHARDNUMSUB [shardchannel ...]", "    How many subscribers these shard channels have.",
		"HELP", "    These lines.",
	}
	values := make([]reply.Value, len(lines))
	for i, l := range lines {
		values[i] = reply.Status(l)
	}
	return reply.Array(values...)
}
