package serverclock

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-11
func TestClockFollowsTheAnswers(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const second = time.Second
	for name, tc := range map[string]struct {
		ahead, took time.Duration // the local clock's lead, and how long a request takes
		header      http.Header   // in addition to Date
		atMost      time.Duration // the maximum error of the clock
		untouched   bool
	}{
		"the same time":                {took: 10 * time.Millisecond, untouched: true},
		"less than a second":           {ahead: 300 * time.Millisecond, took: 10 * time.Millisecond, untouched: true},
		"20 seconds ahead":             {ahead: 20 * second, took: 10 * time.Millisecond, atMost: 1010 * time.Millisecond},
		"an hour behind":               {ahead: -time.Hour, took: 10 * time.Millisecond, atMost: 1010 * time.Millisecond},
		"a slow answer says less":      {ahead: 20 * second, took: 5 * second, atMost: 6 * second},
		"a cached answer says nothing": {ahead: 20 * second, header: http.Header{"Age": {"3"}}, untouched: true},
		"no date":                      {ahead: 20 * second, header: http.Header{"Date": nil}, untouched: true},
		"a date that is none":          {ahead: 20 * second, header: http.Header{"Date": {"yesterday"}}, untouched: true},
	} {
		local := noon.Add(400 * time.Millisecond).Add(tc.ahead)
		clock := New(func() time.Time { return local })
		send := clock.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
			header := http.Header{"Date": {noon.Format(http.TimeFormat)}}
			for key, values := range tc.header {
				header[key] = values
			}
			local = local.Add(tc.took)
			return &http.Response{Header: header}, nil
		}))
		if _, err := send.RoundTrip(nil); err != nil {
			t.Fatal(err)
		}
		right := local.Add(-tc.ahead)
		if tc.untouched {
			right = local
		}
		if wrong := clock.Now().Sub(right).Abs(); wrong > tc.atMost {
			t.Errorf("%s: wrong by %s", name, wrong)
		}
	}
}

// A slow response does not undo the precision gained from a quick one, and a corrected local clock is followed.
// Requirements: CLI-11
func TestClockKeepsTheBestAnswer(t *testing.T) {
	server := time.Date(2026, 3, 1, 12, 0, 0, 500e6, time.UTC)
	ahead := 20 * time.Second
	clock := New(func() time.Time { return server.Add(ahead) })
	send := func(took time.Duration) {
		date := server.Truncate(time.Second)
		sent := server.Add(ahead)
		server = server.Add(took)
		clock.adjust(http.Header{"Date": {date.Format(http.TimeFormat)}}, sent, server.Add(ahead))
	}
	wrong := func() time.Duration { return clock.Now().Sub(server).Abs() }
	send(10 * time.Millisecond)
	before := clock.Now()
	send(30 * time.Second)
	if moved := clock.Now().Sub(before) - 30*time.Second; moved.Abs() > 20*time.Millisecond || wrong() > 1100*time.Millisecond {
		t.Errorf("moved by %s, wrong by %s", moved, wrong())
	}
	ahead = 0 // NTP has corrected the local clock.
	send(10 * time.Millisecond)
	if wrong() > 1100*time.Millisecond {
		t.Errorf("wrong by %s", wrong())
	}
}

// The Date header of a real Go server can be parsed.
// Requirements: CLI-11
func TestClockReadsRealAnswers(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer api.Close()
	clock := New(func() time.Time { return time.Now().Add(time.Hour) })
	answer, err := (&http.Client{Transport: clock.Wrap(http.DefaultTransport)}).Get(api.URL)
	assert.NoError(t, err)
	answer.Body.Close()
	if wrong := time.Until(clock.Now()).Abs(); wrong > time.Minute {
		t.Errorf("wrong by %s", wrong)
	}
}
