package serving

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"

	"k8s.io/component-base/metrics"
)

// Metrics serves /metrics from the gatherer, /configz with the configuration as JSON, and, if profiling is true, the profiles
// for `go tool pprof` at /debug/pprof/.
func Metrics(gatherer metrics.Gatherer, configuration any, profiling bool) http.Handler {
	mux := http.NewServeMux()
	if profiling {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	mux.Handle("GET /metrics", metrics.HandlerFor(gatherer, metrics.HandlerOpts{ErrorHandling: metrics.ContinueOnError}))
	mux.HandleFunc("GET /configz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(configuration)
	})
	return mux
}

// Check returns an error if the check fails.
type Check func() error

// Probes serves /healthz and /readyz, each with its checks by name: 200 if all pass,
// otherwise 503 with the failures.
func Probes(healthz, readyz map[string]Check) http.Handler {
	mux := http.NewServeMux()
	for path, checks := range map[string]map[string]Check{"/healthz": healthz, "/readyz": readyz} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { probe(w, checks) })
	}
	return mux
}

func probe(w http.ResponseWriter, checks map[string]Check) {
	var report strings.Builder
	code := http.StatusOK
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if err := checks[name](); err != nil {
			code = http.StatusServiceUnavailable
			fmt.Fprintf(&report, "[-]%s: %v\n", name, err)
		} else {
			fmt.Fprintf(&report, "[+]%s ok\n", name)
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	fmt.Fprint(w, report.String())
}
