// Command bench measures Trireme beside its peers and judges the rows of the
// performance plan (docs/performance.md says how to read them).
//
//	bench [flags]            rows of the plan; -rows 1,2,3 picks some
//	bench stall [flags]      acceptance run snapshot-stall
//	bench beside [flags]     p99.9 of GET and SET beside commands on a million elements
//	bench memory [flags]     what values of each kind take in memory, beside redis-server
//	bench messages [flags]   acceptance run message-cost but for its rows 12 and 13
//	bench workflows [flags]  acceptance runs workflow-step-cost but for its rows 14 and 15, and workflow-growth
//	bench steady [flags]     acceptance run steady-leader
//	bench growth [flags]     the cost of a request as keys, connections and values grow, as charts
//	bench snapshots [flags]  by how much snapshots amplify writes, as keys grow
//	bench restart [flags]    row 11 with 10,000,000 keys
//	bench traces [flags]     what the export of spans costs deliveries
//	bench eviction [flags]   the hit rate of a cache that evicts, beside redis-server's
//	bench -markdown          print the last results as a table to paste
//	bench load [flags] URL…  the load generator alone, one JSON object
//	bench idle|busy -for D   loops that other measurements start as children
//
// Exit codes: 0 every line holds; 1 a line was missed or could not be measured;
// 2 wrong usage; 3 nothing missed, but a peer is not installed.
package main
