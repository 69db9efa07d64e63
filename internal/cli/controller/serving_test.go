package controller

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/serving"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// JOB-52: flags that contradict each other are usage errors.
func TestContradictingServingFlagsAreWrongUsage(t *testing.T) {
	checkFlags(t, map[string]string{
		"--metrics-bind-address=0 --health-probe-bind-address=0": "",
		"--tls-cert-file=c --tls-private-key-file=k":             "",
		"--tls-cert-file=c":        "must be used together",
		"--tls-private-key-file=k": "must be used together",
		"--tls-cert-file=c --tls-private-key-file=k --metrics-secure=false": "--metrics-secure=false",
		"--metrics-secure=perhaps": "perhaps",
	})
}

// JOB-52: an address that cannot be opened is a usage error that names the flag, and leaves nothing open.
func TestAddressThatIsTakenIsWrongUsage(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, err)
	defer taken.Close()
	for name, c := range map[string]struct {
		args     []string
		wantText []string
	}{
		"metrics": {[]string{"--health-probe-bind-address=127.0.0.1:0", "--metrics-bind-address=" + taken.Addr().String()}, []string{"--metrics-bind-address", "in use", taken.Addr().String()}},
		"metrics without TLS": {
			[]string{"--health-probe-bind-address=127.0.0.1:0", "--metrics-secure=false", "--metrics-bind-address=" + taken.Addr().String()},
			[]string{"--metrics-bind-address", "in use", taken.Addr().String()},
		},
		"probes":                {[]string{"--health-probe-bind-address=" + taken.Addr().String()}, []string{"--health-probe-bind-address", "in use"}},
		"nonsense":              {[]string{"--health-probe-bind-address=nonsense"}, []string{"--health-probe-bind-address", "nonsense"}},
		"no such certificate":   {[]string{"--health-probe-bind-address=0", "--metrics-bind-address=127.0.0.1:0", "--tls-cert-file=/no/such/file", "--tls-private-key-file=/no/key"}, []string{"/no/such/file"}},
		"metrics, probes first": {[]string{"--health-probe-bind-address=" + freeAddress(t), "--metrics-bind-address=nonsense"}, []string{"--metrics-bind-address"}},
	} {
		o := completed(t, c.args...)
		servers, err := o.listen()
		if err == nil || cmdutil.ExitCode(err) != cmdutil.ExitUsage || servers != nil {
			t.Errorf("%s: exit code %d, %v", name, cmdutil.ExitCode(err), err)
			continue
		}
		for _, text := range c.wantText {
			assert.Contains(t, err.Error(), text, name, err)
		}
		if strings.HasPrefix(o.healthAddress, "127.0.0.1:") && o.healthAddress != taken.Addr().String() && !strings.HasSuffix(o.healthAddress, ":0") {
			listener, err := net.Listen("tcp", o.healthAddress)
			if err != nil {
				t.Errorf("%s: the address of the probes was not given back: %v", name, err)
				continue
			}
			listener.Close()
		}
	}
}

// freeAddress returns an address that is free at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// JOB-52: /configz shows the effective configuration, without secrets.
func TestConfigzShowsNoSecrets(t *testing.T) {
	o := completed(t, "--leader-elect", "--managed-by=example.com/jobs", "--feature-gates=JobSuccessPolicy=false", "--kube-api-qps=7", "--token=secret")
	assert.NoError(t, o.Validate())
	answer := httptest.NewRecorder()
	serving.Metrics(o.gatherer, o.runningConfig(), false).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/configz", nil))
	var got struct {
		ManagedBy      string
		KubeAPIQPS     float64
		FeatureGates   map[string]bool
		BatchPeriod    string
		LeaderElection struct{ Identity, Namespace, LeaseDuration string }
	}
	assert.NoError(t, json.Unmarshal(answer.Body.Bytes(), &got))
	gates := got.FeatureGates
	if got.ManagedBy != "example.com/jobs" || got.KubeAPIQPS != 7 || gates["JobSuccessPolicy"] || !gates["JobBackoffLimitPerIndex"] || got.BatchPeriod != "1s" {
		t.Errorf("%+v", got)
	}
	if e := got.LeaderElection; e.Identity != o.election.Identity || e.Namespace != "ns1" || e.LeaseDuration != "15s" {
		t.Errorf("%+v", e)
	}
	assert.NotContains(t, answer.Body.String(), "secret", answer.Body)
	if o := completed(t); o.runningConfig().LeaderElection != nil {
		t.Errorf("an election without being asked for: %+v", o.runningConfig().LeaderElection)
	}
}

// JOB-56: a process that waits for the lead is ready; one that reads its first lists is not.
func TestStandbyIsReady(t *testing.T) {
	beginning, err := controller.New(controller.Config{Client: kubefake.Client(fake.NewClientset())})
	assert.NoError(t, err)
	for name, c := range map[string]struct {
		args    []string
		working *controller.Runtime
		ready   bool
	}{
		"alone, not begun":        {nil, nil, false},
		"alone, lists under way":  {nil, beginning, false},
		"standby":                 {[]string{"--leader-elect"}, nil, true},
		"leader, lists under way": {[]string{"--leader-elect"}, beginning, false},
		"without a shard":         {[]string{"--leader-elect", "--shards=2"}, nil, true},
		"shard, lists under way":  {[]string{"--leader-elect", "--shards=2"}, beginning, false},
	} {
		o := completed(t, c.args...)
		if c.working != nil {
			defer o.running.add(c.working)()
		}
		answer := httptest.NewRecorder()
		serving.Probes(o.healthChecks(), o.readyChecks()).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		assert.Equal(t, answer.Code == http.StatusOK, c.ready, name, answer.Code, answer.Body)
		assert.NoError(t, o.healthChecks()["ping"](), name)
		if check := o.healthChecks()["leaderElection"]; (check != nil) != slices.Contains(c.args, "--leader-elect") || check != nil && check() != nil {
			t.Errorf("%s: the check of the election", name)
		}
	}
}
