package command

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// clusterRows is the Cluster family. What clients see is a cluster of one shard that holds
// all slots: our nodes are its members, the leader its master. Any node takes any command,
// so nothing is ever redirected.
func clusterRows() []Command {
	const about, own = ReadOnlyUser, NoHTTP | Fast | ReadOnlyUser
	return []Command{
		{Name: "asking", Arity: 1, Flags: own, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(1)",
			Syntax: "ASKING", Summary: "Answers OK: no slot ever moves."},
			Access: Access{Categories: acl.Connection}, Run: agree},
		{Name: "cluster countkeysinslot", Arity: 3, Flags: about, Cost: costSlots, Doc: Doc{Version: "3.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "CLUSTER COUNTKEYSINSLOT slot", Summary: "Returns the number of keys of a slot.",
			Info: "stale"}, Run: clusterCountKeys},
		{Name: "cluster getkeysinslot", Arity: 4, Flags: about, Cost: costSlots, Doc: Doc{Version: "3.0.0", Complexity: "O(n), where n is the number of keys",
			Syntax: "CLUSTER GETKEYSINSLOT slot count", Summary: "Returns keys of a slot.",
			Info: "stale", Tips: vagueOutput}, Run: clusterGetKeys},
		{Name: "cluster help", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(1)",
			Syntax: "CLUSTER HELP", Summary: "Lists the subcommands.",
			Info: whileLoading}, Run: helpOf("CLUSTER")},
		{Name: "cluster info", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(1)",
			Syntax: "CLUSTER INFO", Summary: "Returns the state of the cluster as text.",
			Info: "stale", Tips: vagueOutput}, Run: clusterInfo},
		{Name: "cluster keyslot", Arity: 3, Flags: about, Cost: costConstant, Work: keySlotWork, Doc: Doc{Version: "3.0.0", Complexity: "O(n), where n is the length of the key",
			Syntax: "CLUSTER KEYSLOT key", Summary: "Returns the slot of a key.",
			Info: "stale"}, Run: clusterKeySlot},
		{Name: "cluster links", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(1)",
			Syntax: "CLUSTER LINKS", Summary: "Answers nothing: there is no cluster bus.",
			Info: "stale", Tips: vagueOutput}, Run: func(*Tx, *Args) reply.Value { return reply.Array() }},
		{Name: "cluster myid", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(1)",
			Syntax: "CLUSTER MYID", Summary: "Returns the id of the node that answers.",
			Info: "stale"}, Run: clusterMyID},
		{Name: "cluster myshardid", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "7.2.0", Complexity: "O(1)",
			Syntax: "CLUSTER MYSHARDID", Summary: "Returns the id of the one shard.",
			Info: "stale"}, Run: clusterMyShardID},
		{Name: "cluster nodes", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(n), where n is the number of nodes",
			Syntax: "CLUSTER NODES", Summary: "Describes the nodes, one a line.",
			Info: "stale", Tips: vagueOutput}, Run: clusterNodes},
		{Name: "cluster replicas", Arity: 3, Flags: Admin, Cost: costConstant, Doc: Doc{Version: "5.0.0", Complexity: "O(n), where n is the number of nodes",
			Syntax: "CLUSTER REPLICAS node-id", Summary: "Describes the nodes that follow the leader.",
			Info: "stale", Tips: vagueOutput}, Run: clusterReplicas},
		{Name: "cluster shards", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "7.0.0", Complexity: "O(n), where n is the number of nodes",
			Syntax: "CLUSTER SHARDS", Summary: "Describes the one shard and its nodes.",
			Info: "stale", Tips: vagueOutput}, Run: clusterShards},
		{Name: "cluster slots", Arity: 2, Flags: about, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(n), where n is the number of nodes",
			Syntax: "CLUSTER SLOTS", Summary: "Returns which nodes hold which slots: all hold all.",
			Info: "stale", Tips: vagueOutput, Changes: []Change{{"4.0.0", "Tells the ids of nodes."}, {"7.0.0", "Tells more about the network of nodes."}}}, Run: clusterSlots},
		{Name: "readonly", Arity: 1, Flags: own, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(1)",
			Syntax: "READONLY", Summary: "Answers OK: every node serves every command, and reads are linearizable on all of them.",
			Info: whileLoading}, Access: Access{Categories: acl.Connection}, Run: agree},
		{Name: "readwrite", Arity: 1, Flags: own, Cost: costConstant, Doc: Doc{Version: "3.0.0", Complexity: "O(1)",
			Syntax: "READWRITE", Summary: "Answers OK.",
			Info: whileLoading}, Access: Access{Categories: acl.Connection}, Run: agree},
	}
}

// agree answers OK to what needs no doing.
func agree(*Tx, *Args) reply.Value { return reply.OK() }
