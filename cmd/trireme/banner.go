package main

// environment is what existing clients read, ready to paste. Parts that are not
// built, or not open, have no lines.
func environment(url, resp string, tokens credentials) []string {
	lines := []string{
		"UPSTASH_REDIS_REST_URL=" + url,
		"UPSTASH_REDIS_REST_TOKEN=" + tokens.Standard,
		"UPSTASH_REDIS_REST_READONLY_TOKEN=" + tokens.ReadOnly,
	}
	if resp != "" {
		lines = append(lines, "REDIS_URL=redis://default:"+tokens.Standard+"@"+resp)
	}
	return lines
}
