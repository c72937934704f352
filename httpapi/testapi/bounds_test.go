package testapi

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
)

func everything(*Delivery) bool { return true }

// TestOldDeliveriesAreDropped: the newest 10,000 are kept, 64 MiB of them, and numbers go on.
func TestOldDeliveriesAreDropped(t *testing.T) {
	c := NewRecorder(nil, nil)
	for range maxDeliveries + 1 {
		c.keep(&Delivery{})
	}
	all := c.Deliveries(everything)
	if len(all) != maxDeliveries || all[0].Number != 2 || all[maxDeliveries-1].Number != maxDeliveries+1 {
		t.Errorf("%d are kept, from %d on", len(all), all[0].Number)
	}
	c.Reset()
	body := strings.Repeat("x", maxShownBody)
	for range 2 * maxDeliveryBytes / maxShownBody {
		c.keep(&Delivery{Body: body})
	}
	if all = c.Deliveries(everything); len(all)*maxShownBody > maxDeliveryBytes || (len(all)+20)*maxShownBody < maxDeliveryBytes {
		t.Errorf("%d deliveries of %d bytes are kept", len(all), maxShownBody)
	}
	c.keep(&Delivery{Body: strings.Repeat("x", maxDeliveryBytes)}) // larger than all may be together
	if all = c.Deliveries(everything); len(all) != 1 {
		t.Errorf("%d deliveries are kept beside one that is too large", len(all)-1)
	}
}

// TestSinksAreBounded: one name too many is refused, and the newest requests of a sink are kept.
func TestSinksAreBounded(t *testing.T) {
	k := NewSinks(func() int64 { return 7 })
	for i := range maxSinks {
		if err := k.Script(fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Script("one more", nil); err == nil {
		t.Error("a sink too many was taken")
	}
	if err := k.Script("0", []Reply{{Status: 500}}); err != nil {
		t.Errorf("a sink that is there: %v", err)
	}
	s := &sink{received: make([]Received, maxReceived)}
	k.all["0"] = s
	if _, err := k.take("0", httptest.NewRequest("POST", "/test/sink/0", strings.NewReader("last"))); err != nil {
		t.Fatal(err)
	}
	if got := k.Received("0"); len(got) != maxReceived || got[maxReceived-1].Body != "last" {
		t.Errorf("%d requests are kept, the last with %q", len(got), got[len(got)-1].Body)
	}
}
