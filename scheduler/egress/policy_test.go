package egress

import (
	"errors"
	"net/netip"
	"testing"
)

// outside are addresses that nobody reaches by default, each of another class or form.
var outside = []string{
	"127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "0.1.2.3", "::",
	"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fdff::1", "fec0::1",
	"100.64.0.1", "100.127.255.255", "169.254.0.1", "fe80::1", "fe80::1%eth0",
	"169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254",
	"192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "240.0.0.1", "255.255.255.255", "224.0.0.1", "239.1.1.1",
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1",
	"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:db8::1", "2001:10::1", "3fff::1",
	"100::1", "5f00::1", "ff02::1", "4000::1",
}

var publicAddrs = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255",
	"172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "2001:4860:4860::8888",
}

func TestPublicInternetAlone(t *testing.T) {
	var p Policy
	for _, text := range outside {
		if err := p.CheckAddr(netip.MustParseAddr(text)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range publicAddrs {
		if err := p.CheckAddr(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOpenPolicyRefusesUnroutableAddresses(t *testing.T) {
	p := Policy{Open: true}
	for _, text := range outside {
		addr := netip.MustParseAddr(text)
		unreachable := addr.IsMulticast() || text == "255.255.255.255"
		if err := p.CheckAddr(addr); (err != nil) != unreachable {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAllow(t *testing.T) {
	for _, c := range []struct {
		allow     string
		addr      string
		permitted bool
	}{
		{"10.0.0.0/8", "10.1.2.3", true}, {"10.0.0.0/8", "::ffff:10.1.2.3", true}, {"10.0.0.0/8", "192.168.0.1", false},
		{"::ffff:10.0.0.0/104", "10.1.2.3", true}, {"10.1.2.3", "10.1.2.3", true}, {"10.1.2.3", "10.1.2.4", false},
		{"0.0.0.0/0", "192.168.0.1", true}, {"0.0.0.0/0", "127.0.0.1", false}, {"0.0.0.0/0", "169.254.169.254", false}, {"0.0.0.0/0", "169.254.1.1", false},
		{"0.0.0.0/0", "0.0.0.0", false}, {"0.0.0.0/0", "168.63.129.16", false}, {"0.0.0.0/0", "224.0.0.1", false}, {"0.0.0.0/0", "100.100.100.200", false},
		{"127.0.0.0/8", "127.0.0.1", true}, {"127.0.0.1/32", "127.0.0.1", true}, {"127.0.0.1/32", "127.0.0.2", false}, {"126.0.0.0/7", "127.0.0.1", false},
		{"169.254.0.0/16", "169.254.1.1", true}, {"169.254.0.0/16", "169.254.169.254", false}, {"169.254.169.254", "169.254.169.254", true},
		{"100.64.0.0/10", "100.100.100.200", false}, {"100.64.0.0/10", "100.100.100.201", true},
		{"::1", "::1", true}, {"::/0", "::1", false}, {"::/0", "fc00::1", true}, {"::/0", "fd00:ec2::254", false}, {"fc00::/7", "fd00:ec2::254", false},
		{"::/0", "fe80::1", false}, {"fe80::/10", "fe80::1%eth0", true},
		// What a translating address leads to is judged too.
		{"64:ff9b::/96", "64:ff9b::808:808", true}, {"64:ff9b::/96", "64:ff9b::7f00:1", false}, {"64:ff9b::/96", "64:ff9b::a9fe:a9fe", false},
		{"2002::/16", "2002:808:808::1", true}, {"2002::/16", "2002:a00:1::1", false},
	} {
		allow, err := ParseAllow([]string{" " + c.allow})
		if err != nil {
			t.Errorf("%s: %v", c.allow, err)
			continue
		}
		p := Policy{Allow: allow}
		if err := p.CheckAddr(netip.MustParseAddr(c.addr)); (err == nil) != c.permitted {
			t.Errorf("with %s, %s: %v", c.allow, c.addr, err)
		}
	}
}

func TestParseAllowRefuses(t *testing.T) {
	for _, text := range []string{"", "10", "10.0.0.0/33", "localhost", "fe80::1%eth0", "::ffff:0:0/64", "10.0.0.0/-1", "10.0.0.0 /8"} {
		if all, err := ParseAllow([]string{text}); err == nil {
			t.Errorf("ParseAllow(%q) = %v", text, all)
		}
	}
}

func TestOwnAddressesAreNeverReached(t *testing.T) {
	own := netip.MustParseAddrPort("127.0.0.1:7000")
	for _, p := range []Policy{{Open: true}, {Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}} {
		p.Own = func(at netip.AddrPort) bool { return at == own }
		for _, text := range []string{"127.0.0.1:7000", "[::ffff:127.0.0.1]:7000"} {
			if err := p.Check(netip.MustParseAddrPort(text)); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: %v", text, err)
			}
		}
		if err := p.Check(netip.MustParseAddrPort("127.0.0.1:7001")); err != nil {
			t.Error(err)
		}
	}
}

// FuzzCheck: no text of an address is judged differently in another form of the same
// address.
func FuzzCheck(f *testing.F) {
	for _, text := range outside {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return
		}
		var p Policy
		plainly := p.CheckAddr(addr) == nil
		if addr.Is4() {
			mapped := netip.AddrFrom16(addr.As16())
			if (p.CheckAddr(mapped) == nil) != plainly {
				t.Fatalf("%s and %s are judged differently", addr, mapped)
			}
		}
		if plainly && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || addr.IsUnspecified()) {
			t.Fatalf("%s passes", addr)
		}
	})
}
