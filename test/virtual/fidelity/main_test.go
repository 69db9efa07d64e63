package fidelity

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/apiserver"
)

var (
	sequences = flag.Int("sequences", 200, "how many random sequences to compare")
	firstSeed = flag.Uint64("seed", 1, "the seed of the first sequence; each of the others has the next one")
	replay    = flag.String("replay", "testdata/found.txt", "a file with calls to compare")
)

var (
	// client is the client of the real API server.
	client kubernetes.Interface
	// release and minor are the real API server's version.
	release string
	minor   int
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	server, err := apiserver.Start(filepath.Join("..", "..", ".."), "")
	if err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		return 1
	}
	defer func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "fidelity: stopping the API server:", err)
		}
	}()
	if err := connect(server.Config); err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		return 1
	}
	return m.Run()
}

func connect(config *rest.Config) (err error) {
	config = rest.CopyConfig(config)
	config.QPS, config.ContentType = -1, runtime.ContentTypeProtobuf
	config.WarningHandler = rest.NoWarnings{}
	if client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	release = info.GitVersion
	if want := cmp.Or(os.Getenv("KUBE_VERSION"), release); want != release {
		return fmt.Errorf("the API server is %s, want %s", release, want)
	}
	minor, err = strconv.Atoi(info.Minor)
	return err
}
