// Package serving implements the controller's HTTP servers: metrics and the effective configuration, with TLS and
// authorization by the API server, and health probes over plain HTTP.
package serving

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Limits on requests with tokens, because any client that can reach the address may send them.
const (
	// maxReviews is how many tokens that were never allowed are reviewed at a time, and maxWaiting how many wait.
	// maxPeerReviews is the maximum of both together for one address. Tokens that were allowed before are reviewed
	// separately, within the first two limits.
	maxReviews     = 20
	maxWaiting     = 100
	maxPeerReviews = 4
	// reviewTime is the timeout of a review, including the wait for it.
	reviewTime = 10 * time.Second
	// permissionTime is how long a permission is cached, and refusalTime a refusal.
	permissionTime = time.Minute
	refusalTime    = 10 * time.Second
	// knownTime is how long after its last permission a token counts as allowed before.
	knownTime = time.Hour
	// maxAnswers is how many permissions are cached, and how many refusals.
	maxAnswers = 1000
)

// WithAuthorization allows requests with a bearer token that the API server authenticates (TokenReview) and authorizes to get the path
// (SubjectAccessReview of the non-resource URL). It caches the results for a short time. Tokens that were allowed before are
// reviewed with the client known, and all others with unknown: if each client has its own rate limit, a flood of invalid
// tokens does not delay valid ones. k8s.io/apiserver's filters do the same and more, for 13 MB of binary (docs/internals/adr/0006).
func WithAuthorization(next http.Handler, unknown, known kube.Interface, now clock.PassiveClock) http.Handler {
	answers := func() *cache.LRUExpireCache { return cache.NewLRUExpireCacheWithClock(maxAnswers, now) }
	v := &reviewer{
		unknown: newReviews(unknown), known: newReviews(known),
		allowed: answers(), allowedBefore: answers(), refused: answers(),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token = strings.TrimSpace(token); !found || token == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
			return
		}
		switch err := v.check(r, token); {
		case err == nil:
			next.ServeHTTP(w, r)
		case errors.Is(err, errBusy):
			http.Error(w, err.Error(), http.StatusTooManyRequests)
		case errors.Is(err, errInvalid):
			http.Error(w, err.Error(), http.StatusUnauthorized)
		case errors.Is(err, errDenied):
			http.Error(w, "this user has no permission to get "+r.URL.Path, http.StatusForbidden)
		default:
			if r.Context().Err() == nil { // Otherwise, any client could fill the log by hanging up.
				klog.FromContext(r.Context()).Error(err, "Cannot check who may read", "path", r.URL.Path)
			}
			http.Error(w, "the API server cannot check who may read this", http.StatusServiceUnavailable)
		}
	})
}

var (
	errBusy    = errors.New("too many tokens are being checked; try again")
	errInvalid = errors.New("this token is not valid")
	errDenied  = errors.New("denied")
)

// reviewer reviews tokens and caches the results.
type reviewer struct {
	unknown, known *reviews
	peers          peers
	// Each cache has hashes of a token and a path; tokens themselves are not stored. Invalid tokens add only refusals, so
	// they never evict a permission.
	allowed, allowedBefore, refused *cache.LRUExpireCache
}

// reviews are the reviews in progress with one client, and the requests that wait for one.
type reviews struct {
	client  kube.Interface
	slots   *semaphore.Weighted
	pending atomic.Int64
}

func newReviews(client kube.Interface) *reviews {
	return &reviews{client: client, slots: semaphore.NewWeighted(maxReviews)}
}

// acquire waits for a review, in order of arrival, until ctx ends; the caller must call release. The error is errBusy.
func (r *reviews) acquire(ctx context.Context) error {
	if r.pending.Add(1) > maxReviews+maxWaiting || r.slots.Acquire(ctx, 1) != nil {
		r.pending.Add(-1)
		return errBusy
	}
	return nil
}

func (r *reviews) release() {
	r.slots.Release(1)
	r.pending.Add(-1)
}

// check returns nil if the token may get the path of the request.
func (v *reviewer) check(r *http.Request, token string) error {
	question := sha256.Sum256([]byte(token + "\x00" + r.URL.Path))
	if _, is := v.allowed.Get(question); is {
		return nil
	}
	if err, is := v.refused.Get(question); is {
		return err.(error)
	}
	with := v.known
	if _, known := v.allowedBefore.Get(question); !known {
		peer := hostOf(r.RemoteAddr)
		with = v.unknown
		waiting := v.peers.enter(peer)
		defer v.peers.leave(peer)
		if waiting > maxPeerReviews {
			return errBusy
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), reviewTime)
	defer cancel()
	if err := with.acquire(ctx); err != nil {
		return err
	}
	defer with.release()
	user, err := authenticate(ctx, with.client, token)
	if err == nil {
		err = authorize(ctx, with.client, user, r.URL.Path)
	}
	switch { // Only answers of the API server are cached.
	case err == nil:
		v.allowed.Add(question, nil, permissionTime)
		v.allowedBefore.Add(question, nil, knownTime)
	case errors.Is(err, errInvalid), errors.Is(err, errDenied):
		v.allowed.Remove(question)
		v.allowedBefore.Remove(question)
		v.refused.Add(question, err, refusalTime)
	}
	return err
}

// authenticate returns the user of a token, or errInvalid.
func authenticate(ctx context.Context, client kube.Interface, token string) (*authenticationv1.UserInfo, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	answer, err := client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if !answer.Status.Authenticated {
		return nil, errInvalid
	}
	return &answer.Status.User, nil
}

// authorize returns nil if the user may get the path, or errDenied.
func authorize(ctx context.Context, client kube.Interface, user *authenticationv1.UserInfo, path string) error {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}
	answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if !answer.Status.Allowed {
		return errDenied
	}
	return nil
}
