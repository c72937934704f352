package doctor

import "github.com/trireme-dev/trireme/internal/plural"

// Stopped says that queues, flow-control keys or workflow runs are paused because their retries are used up.
func Stopped(queues, runs int) Finding {
	return found(checkDeliveries, "", Warning, "see queues list, flow list and runs list for what is paused, put the endpoint right, and resume it",
		"%s and %s are paused at the end of their retries", plural.Of(queues, "queue or flow-control key"), plural.Of(runs, "workflow run"))
}
