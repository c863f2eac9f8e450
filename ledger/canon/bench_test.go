package canon

import "testing"

// event is one move of about 600 bytes as the log holds it.
const event = `{"at":1735424400123,"body":{"move":"g1f3","seat":0,"signed":{"game_id":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae","move":"Nf3","seen":"fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9","signature":"124f7294aee4df1ef5f8ba47076dc75988c98932d379880f20e9123e6f435e860b5a46bbb0ee821dcfd9070f8110abae755e214e4757f50c5fe4a026b1bffe0c","turn_index":12},"state":"0123456789abcdef0123456789abcdef","turn":12},"kind":"move.played","prev":"fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9","seq":14,"stream":"match/2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae","v":1}`

func BenchmarkParse(b *testing.B) {
	data, lim := []byte(event), Limits{Bytes: 32 << 10, Depth: 12, Values: 1 << 10}
	b.Run("canonical", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := ParseCanonical(data, lim); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("any", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := Parse(data, lim); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("append", func(b *testing.B) {
		v, err := Parse(data, lim)
		if err != nil {
			b.Fatal(err)
		}
		dst := v.Append(nil)
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			dst = v.Append(dst[:0])
		}
	})
}
