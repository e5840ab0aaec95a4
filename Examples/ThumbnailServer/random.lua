-- A picture with each request, some far more often than others: by Zipf's law with an exponent of 0.8, as pages of the web
-- are asked for (Breslau and others, 1999). COUNT says how many there are.
local count = tonumber(os.getenv("COUNT"))
local upto = {}

function init()
    -- The popular ones lie all over the album, in the same order each time.
    math.randomseed(4711)
    local order = {}
    for rank = 1, count do order[rank] = rank - 1 end
    for rank = count, 2, -1 do
        local other = math.random(rank)
        order[rank], order[other] = order[other], order[rank]
    end
    local sum = 0
    for rank = 1, count do
        sum = sum + rank ^ -0.8
        upto[rank] = { sum = sum, id = order[rank] }
    end
end

function request()
    local aim = math.random() * upto[count].sum
    local low, high = 1, count
    while low < high do
        local middle = math.floor((low + high) / 2)
        if upto[middle].sum < aim then low = middle + 1 else high = middle end
    end
    return wrk.format("GET", "/thumbnails/" .. upto[low].id)
end
