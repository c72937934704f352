package main

// environment is what existing clients read, ready to paste. Parts that are not
// built have no lines.
func environment(url string, tokens credentials) []string {
	return []string{
		"UPSTASH_REDIS_REST_URL=" + url,
		"UPSTASH_REDIS_REST_TOKEN=" + tokens.Standard,
		"UPSTASH_REDIS_REST_READONLY_TOKEN=" + tokens.ReadOnly,
	}
}
