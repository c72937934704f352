package workflow

// Future is the end of a branch that Go has started.
type Future[T any] struct {
	b     *branch
	value T
	err   error
}

// Go starts a branch of the workflow: steps of fn are done at the same time as those of the function that called Go, and of other branches.
// Steps that branches have come to are one block: the next ones follow once all of it is done. fn must use the Context that it is called
// with. A branch that nobody awaits ends with the workflow's function.
func Go[T any](c *Context, fn func(c *Context) (T, error)) *Future[T] {
	c.enter()
	f := &Future[T]{}
	f.b = c.d.start(func(c *Context) { f.value, f.err = fn(c) })
	return f
}

// Await waits for the end of the branch and returns what its function has returned.
func (f *Future[T]) Await() (T, error) {
	d := f.b.d
	waiter := d.current
	waiter.c.enter()
	if !f.b.done {
		f.b.waiters = append(f.b.waiters, waiter)
		waiter.park()
	}
	return f.value, f.err
}

// All waits for several branches and returns their values. The error is that of the first one that has one, in their order.
func All[T any](futures ...*Future[T]) (values []T, err error) {
	for _, f := range futures {
		v, failed := f.Await()
		values = append(values, v)
		if err == nil {
			err = failed
		}
	}
	return values, err
}
