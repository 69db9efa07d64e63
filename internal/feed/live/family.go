package live

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// familyEvery is how often the retry family of the open Job is read.
const familyEvery = 5 * time.Second

// family reads the retries of the open Job. The list of Jobs may not contain them, for example if it has a single name.
type family struct {
	source  *Source
	related *related
}

func (f *family) run(ctx context.Context) error {
	for {
		f.read(ctx)
		if err := f.source.Pause(ctx, familyEvery, nil); err != nil {
			return err
		}
	}
}

// read updates the relatives. If listing Jobs is forbidden, there are none; on other errors, the previous ones are kept.
func (f *family) read(ctx context.Context) {
	f.source.mu.Lock()
	r := f.related
	job, before, known := r.job, r.relatives, r.relativesRead
	f.source.mu.Unlock()
	relatives, err := gather.Relatives(ctx, f.source.Client, job, before)
	if err != nil && !apierrors.IsForbidden(err) {
		return
	}
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	r.relatives, r.relativesRead = relatives, err == nil
	same := func(x, y explain.Input) bool {
		return x.Job.ResourceVersion == y.Job.ResourceVersion && x.PodsRead == y.PodsRead
	}
	if known != r.relativesRead || !slices.EqualFunc(before, relatives, same) {
		r.touch(f.source)
	}
}
