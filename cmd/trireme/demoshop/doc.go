// Package demoshop keeps the sample data of "trireme dev --demo" alive: a shop that stores keys, publishes messages and
// starts workflow runs on a development node, and serves the endpoints that they go to.
//
// Some of what it starts fails, always in the same orders, so that retries and dead letters can be seen. It never lets
// more than a few dozen of its things wait, removes its dead letters after an hour, and its keys expire. Whoever opens a
// Shop calls Fill, then Run, and at last Close.
package demoshop
