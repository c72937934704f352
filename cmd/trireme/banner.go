package main

import "github.com/trireme-dev/trireme/fsm/queue"

// environment is what existing clients read, ready to paste. Keys that are not known yet,
// and a RESP port that is not open, have no lines.
func environment(url, resp string, tokens credentials, keys queue.Keys) []string {
	lines := []string{
		"UPSTASH_REDIS_REST_URL=" + url,
		"UPSTASH_REDIS_REST_TOKEN=" + tokens.Standard,
		"UPSTASH_REDIS_REST_READONLY_TOKEN=" + tokens.ReadOnly,
		"QSTASH_URL=" + url,
		"QSTASH_TOKEN=" + tokens.Messages,
	}
	if keys != (queue.Keys{}) {
		lines = append(lines, "QSTASH_CURRENT_SIGNING_KEY="+keys.Current, "QSTASH_NEXT_SIGNING_KEY="+keys.Next)
	}
	if resp != "" {
		lines = append(lines, "REDIS_URL=redis://default:"+tokens.Standard+"@"+resp)
	}
	return lines
}
