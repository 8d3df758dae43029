"""Draws six numbers, verifies them, and makes a million normal numbers from verified blocks. Needs numpy and QRN_KEY."""

from qrn_client import Generator, QrnClient

with QrnClient() as client:
    answer = client.integers(6, min=1, max=49, unique=True, sort="ascending")
    print(answer.values, answer.metadata.entropy_origin)
    print("verified:", client.verify(answer).ok)

    blocks = []
    generator = Generator(client, on_block=lambda block: blocks.append(client.verify(block).require()))
    normals = generator.normal(size=1_000_000)
    print(f"{normals.size} normals: mean {normals.mean():+.4f}, deviation {normals.std():.4f}")
    print(f"{len(blocks)} blocks verified")
