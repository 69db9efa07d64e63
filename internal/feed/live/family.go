package live

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// familyEvery is how often the family of a Job is read.
const familyEvery = 5 * time.Second

// family reads the retries of the Job that is open. The list of Jobs may be of others: of a single name, for example.
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

// read notes the relatives. Without permission to list Jobs there are none; after another error, they are those of before.
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
