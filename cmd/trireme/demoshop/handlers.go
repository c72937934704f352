package demoshop

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// maxBody bounds what the shop reads of a request, in bytes.
const maxBody = 1 << 20

// handler serves what the shop's messages and runs are sent to.
func (s *Shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /workflows/{name}", s.app)
	mux.HandleFunc("POST /orders", receive(takeStock))
	mux.HandleFunc("POST /mail", receive(sendMail))
	mux.HandleFunc("POST /parcels", receive(s.pack))
	for _, path := range []string{"/callbacks/delivered", "/callbacks/failed", "/warehouse", "/billing", "/reports", "/heartbeat"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"received":true}`) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			http.Error(w, "pages of other sites have no business here", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		mux.ServeHTTP(w, r)
	})
}

// receive reads an order, and answers with a handler's status and value. first says whether this is the first attempt.
func receive(handle func(ctx context.Context, o order, first bool) (status int, answer any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var o order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			http.Error(w, "no order: "+err.Error(), http.StatusBadRequest)
			return
		}
		retried := r.Header.Get("Upstash-Retried")
		status, answer := handle(r.Context(), o, retried == "" || retried == "0")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // an error means that the node has gone
	}
}

// failure is the answer to an attempt that fails, as frameworks show it.
func failure(status int, e *workflow.Error) (int, any) {
	return status, map[string]string{"error": e.Name, "message": e.Message, "stack": e.Stack}
}

// takeStock answers messages about orders.
func takeStock(_ context.Context, o order, first bool) (int, any) {
	switch {
	case lacksStock(o.Number):
		return failure(http.StatusInternalServerError, workflow.NewError("OutOfStockError", "the last oar was sold yesterday"))
	case isLate(o.Number) && first:
		return failure(http.StatusServiceUnavailable, workflow.NewError("DatabaseError", "too many connections, try again"))
	}
	return http.StatusOK, map[string]any{"reserved": true, "order": o.Number}
}

// sendMail answers messages with mail to customers.
func sendMail(_ context.Context, o order, first bool) (int, any) {
	switch {
	case hasNoMailbox(o.Number):
		return failure(http.StatusUnprocessableEntity, workflow.NewError("UnknownMailbox", "there is no mailbox of this name"))
	case hasFullMailbox(o.Number) && first:
		return failure(http.StatusTooManyRequests, workflow.NewError("MailboxFull", "this mailbox takes no mail now"))
	}
	return http.StatusOK, map[string]any{"sent": true}
}

// packTime is how long the warehouse takes to answer.
const packTime = 120 * time.Millisecond

// pack answers calls of the checkout. Its run is notified in the next round.
func (s *Shop) pack(ctx context.Context, o order, _ bool) (int, any) {
	spend(ctx, packTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parcels[packedEvent(o)] = 0
	return http.StatusOK, map[string]any{"parcel": "P" + packedEvent(o)}
}
