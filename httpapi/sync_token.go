package httpapi

import (
	"strconv"
	"strings"
)

// A sync token names a place in the log of one cluster: the place of a write, or the state that a read saw. To clients
// it is opaque. The place in the entry distinguishes tokens of writes that were committed together. The cluster's mark
// makes a token of another cluster, or of one that was founded anew, count as no token.
//
//	<cluster>.<index>       after a read
//	<cluster>.<index>.<n>   after a write
//	<cluster>.<index>.<n>.<row>   after one that ran together with others

// clusterTag returns a short mark of a cluster: FNV-1a of its id.
func clusterTag(clusterID string) uint32 {
	h := uint32(2166136261)
	for i := range len(clusterID) {
		h = (h ^ uint32(clusterID[i])) * 16777619
	}
	return h
}

// appendToken writes a token; place is negative for a read.
func appendToken(dst []byte, cluster uint32, index uint64, place int) []byte {
	dst = strconv.AppendUint(dst, uint64(cluster), 36)
	dst = strconv.AppendUint(append(dst, '.'), index, 36)
	if place >= 0 {
		dst = strconv.AppendUint(append(dst, '.'), uint64(place), 36)
	}
	return dst
}

// tokenIndex returns the log index that a token names, 0 for anything that isn't a token of
// this cluster.
func tokenIndex(token string, cluster uint32) uint64 {
	mark, rest, _ := strings.Cut(token, ".")
	text, _, _ := strings.Cut(rest, ".")
	if m, err := strconv.ParseUint(mark, 36, 32); err != nil || uint32(m) != cluster {
		return 0
	}
	index, err := strconv.ParseUint(text, 36, 64)
	if err != nil {
		return 0
	}
	return index
}
