// Go's net/http with crypto/rand behind a buffer. Run by `go run`; the bench leaves it out where Go is not installed.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A reader of system entropy for each request that is under way: a system call for every 64 KiB.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(rand.Reader, 65536) }}

type params struct {
	Min       *int64 `json:"min"`
	Max       *int64 `json:"max"`
	Precision *int   `json:"precision"`
	Length    *int   `json:"length"`
}

type order struct {
	Type   string `json:"type"`
	Count  int    `json:"count"`
	Params params `json:"params"`
}

func u64(entropy *bufio.Reader) uint64 {
	var eight [8]byte
	if _, err := io.ReadFull(entropy, eight[:]); err != nil {
		panic(err)
	}
	return binary.LittleEndian.Uint64(eight[:])
}

// Uniform below span, by rejection.
func below(entropy *bufio.Reader, span uint64) uint64 {
	limit := ^uint64(0) - ^uint64(0)%span
	for {
		if value := u64(entropy); value < limit {
			return value % span
		}
	}
}

func or[T any](given *T, fallback T) T {
	if given == nil {
		return fallback
	}
	return *given
}

func draw(entropy *bufio.Reader, wanted order) any {
	switch wanted.Type {
	case "floats":
		values := make([]float64, wanted.Count)
		for i := range values {
			if wanted.Params.Precision == nil {
				values[i] = float64(u64(entropy)>>11) / (1 << 53)
				continue
			}
			scale := uint64(1)
			for p := 0; p < *wanted.Params.Precision; p++ {
				scale *= 10
			}
			values[i] = float64(below(entropy, scale)) / float64(scale)
		}
		return values
	case "bytes":
		values := make([]string, wanted.Count)
		piece := make([]byte, or(wanted.Params.Length, 16))
		for i := range values {
			if _, err := io.ReadFull(entropy, piece); err != nil {
				panic(err)
			}
			values[i] = hex.EncodeToString(piece)
		}
		return values
	case "uuid":
		values := make([]string, wanted.Count)
		for i := range values {
			values[i] = uuid(entropy)
		}
		return values
	default:
		low, high := or(wanted.Params.Min, 0), or(wanted.Params.Max, 100)
		values := make([]int64, wanted.Count)
		for i := range values {
			values[i] = low + int64(below(entropy, uint64(high-low)+1))
		}
		return values
	}
}

func uuid(entropy *bufio.Reader) string {
	var bytes [16]byte
	if _, err := io.ReadFull(entropy, bytes[:]); err != nil {
		panic(err)
	}
	bytes[6] = bytes[6]&0x0f | 0x40
	bytes[8] = bytes[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[0:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

func answer(writer http.ResponseWriter, wanted order) {
	entropy := readers.Get().(*bufio.Reader)
	defer readers.Put(entropy)
	requestID := uuid(entropy)
	body, err := json.Marshal(map[string]any{
		"data": map[string]any{"count": wanted.Count, "values": draw(entropy, wanted),
			"metadata": map[string]string{"entropy_mode": "csprng", "quantum_source": "none"}},
		"meta": map[string]any{"duration_ms": 0, "request_id": requestID},
		"metadata": map[string]any{"entropy_origin": "system", "nist_verified": false, "powered_by": "peer",
			"quantum_backend": "none", "request_id": requestID, "timestamp": time.Now().UTC().Format(time.RFC3339Nano)},
		"quantum_credits": map[string]any{"remaining": nil, "total": nil, "used": 0},
	})
	if err != nil {
		panic(err)
	}
	fields := writer.Header()
	fields.Set("Content-Type", "application/json")
	fields.Set("Cache-Control", "no-store")
	fields.Set("X-Entropy-Mode", "csprng")
	fields.Set("X-Entropy-Origin", "system")
	fields.Set("X-Request-ID", requestID)
	fields.Set("Content-Length", strconv.Itoa(len(body)))
	writer.Write(body)
}

func main() {
	http.HandleFunc("/v1/integers", func(writer http.ResponseWriter, request *http.Request) {
		count, err := strconv.Atoi(request.URL.Query().Get("count"))
		if err != nil {
			count = 1
		}
		answer(writer, order{Type: "integers", Count: count})
	})
	http.HandleFunc("/v1/batch", func(writer http.ResponseWriter, request *http.Request) {
		var wanted order
		if err := json.NewDecoder(request.Body).Decode(&wanted); err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		answer(writer, wanted)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("ready http://%s\n", listener.Addr())
	panic(http.Serve(listener, nil))
}
