package follow

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// A retry that is created while the command gives up is not called stalled.
// Requirements: RUN-15
func TestStalledErrorHasOnlyStalledJobs(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))
	s := &Set{Options: Options{Kube: cmdutil.NewKubeFlags(), Stalled: StallFlags{Stalled: 10 * time.Minute}}}
	for _, name := range []string{"stalled", "other-retry-1"} {
		job, err := NewJob(clitest.SimpleJob("ns1", name, 0))
		assert.NoError(t, err)
		job.UID = types.UID(name)
		s.Add(job)
	}
	s.Blockers = map[types.UID]*explain.Stall{"stalled": {Text: "no image"}}
	got := s.stalledError().Error()
	if strings.Contains(got, "other-retry-1") || !strings.HasPrefix(got, "job.batch/stalled has been stalled for 10m: no image; see: ") {
		t.Error(got)
	}
}

// The shortest limit that applies decides.
// Requirements: RUN-15, RUN-21
func TestStallLimitIsTheShortestThatApplies(t *testing.T) {
	both := StallFlags{Stalled: 10 * time.Minute, Unscheduled: 30 * time.Minute}
	for _, tc := range []struct {
		flags StallFlags
		stall explain.Stall
		want  time.Duration
	}{
		{both, explain.Stall{}, 10 * time.Minute},
		{both, explain.Stall{MayContinue: true}, 0},
		{both, explain.Stall{MayContinue: true, Unscheduled: true}, 30 * time.Minute},
		{both, explain.Stall{Unscheduled: true}, 10 * time.Minute},
		{StallFlags{Stalled: time.Hour, Unscheduled: time.Minute}, explain.Stall{Unscheduled: true}, time.Minute},
		{StallFlags{Stalled: time.Hour}, explain.Stall{MayContinue: true, Unscheduled: true}, 0},
	} {
		assert.Equal(t, tc.flags.limitOf(&tc.stall).After, tc.want, tc.flags, tc.stall)
	}
}

// What is read about a Job before giving up may show that it waits, or has another limit.
// Requirements: RUN-15, RUN-21
func TestAJobIsNotGivenUpBeforeTheLimitOfWhatIsRead(t *testing.T) {
	s := &Set{Options: Options{Stalled: StallFlags{Stalled: 10 * time.Minute, Unscheduled: 30 * time.Minute}}}
	stuck, waits, noNode := &explain.Stall{}, &explain.Stall{MayContinue: true}, &explain.Stall{MayContinue: true, Unscheduled: true}
	for _, tc := range []struct {
		read, listed *explain.Stall
		want         bool
	}{{stuck, stuck, true}, {waits, stuck, false}, {noNode, stuck, false}, {stuck, noNode, true}, {stuck, nil, true}} {
		assert.Equal(t, s.isLimited(tc.read, tc.listed), tc.want, tc.read, tc.listed)
	}
}
