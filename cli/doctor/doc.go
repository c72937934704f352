// Package doctor checks whether a host is fit for a node, and whether a node and the others of its
// cluster reach and agree with each other. `trireme doctor` and GET /admin/doctor print its reports.
//
// A Finding states what was measured and, below OK, what to do. Disk, space, limits, memory,
// certificates and addresses are measured here; what the nodes have learned of each other
// (cluster.PeerReport) is passed in by the caller, and only judged. A Report is a list of findings
// and the worst of their levels.
package doctor
